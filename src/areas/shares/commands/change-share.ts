import type { ShareDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import type { Sealed } from '../../../event-sourcing/ports/sealed.js';
import { checkSharePassword, type PasswordClass, passwordClassOf } from '../domain/share/password.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { openShare, shareAggregate } from '../domain/share/share.js';
import {
  checkFrameAncestors,
  checkShareEnd,
  checkShareNote,
  checkShareTitle,
  type ShareTerms,
} from '../domain/share/terms.js';
import type { ShareResource } from '../../../../projections/shares/shares/reader.js';
import { refuseWhenFull, sharerOf } from './refuse-when-full.js';
import type { RequireOpenShares } from './require-open-shares.js';
import { sealForShare } from './share-data.js';

export interface ShareAddress {
  readonly projectId: string;
  readonly shareId: string;
}

export interface ChangeShareInput extends ShareAddress {
  /** Undefined fields do not change. */
  readonly changes: {
    /** Null: the share opens without a password from then on. */
    readonly password?: string | null | undefined;
    readonly expiresAt?: Date | null | undefined;
    readonly maxUses?: number | null | undefined;
    readonly allowDownload?: boolean | undefined;
    readonly title?: string | null | undefined;
    readonly note?: string | null | undefined;
    readonly frameAncestors?: readonly string[] | undefined;
    readonly notifySharer?: boolean | undefined;
    readonly showSender?: boolean | undefined;
  };
}

/**
 * Changes a share. A new password, or none, ends the sessions of the old one.
 * @throws CommandRejected share_not_found, invalid_request, open_shares_off; PreconditionFailed; TooManyAttempts
 */
export type ChangeShare = (
  input: ChangeShareInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<ShareResource>>;

/** Revokes a share and ends its sessions. @throws CommandRejected share_not_found; PreconditionFailed */
export type RevokeShare = (
  input: ShareAddress,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

export function makeChangeShare({
  handler,
  sealer,
  sharePasswords,
  shares,
  requireOpenShares,
}: Pick<ShareDeps, 'handler' | 'sealer' | 'sharePasswords' | 'shares'> & {
  readonly requireOpenShares: RequireOpenShares;
}): ChangeShare {
  return async ({ projectId, shareId, changes }, context, options = {}) => {
    const scope = { kind: 'share', projectId, shareId } as const;
    // A share of another project is rejected before the password is hashed and sealed.
    const present = openShare((await handler.load(shareAggregate, shareId)).state, projectId);
    const terms = { ...checked(changes, context.time), ...(await sealedTexts()) };
    if (changes.password === null) await requireOpenShares(projectId);
    const password = changes.password === undefined ? undefined : await sealedHash(changes.password);
    const { documents } = await handler.handle(
      { aggregate: shareAggregate, id: shareId },
      { type: 'Change', projectId, changes: terms, password },
      context,
      { ...options, revokesAccess: password !== undefined },
    );
    return (await shares.after(documents)) ?? shareNotFound();

    async function sealedHash(
      chosen: string | null,
    ): Promise<{ readonly hash: Sealed | null; readonly passwordClass: PasswordClass }> {
      if (chosen === null) return { hash: null, passwordClass: passwordClassOf('') };
      const checkedPassword = checkSharePassword(chosen);
      const hash = await refuseWhenFull(() => sharePasswords.hash(checkedPassword, sharerOf(projectId)));
      const sealed = await sealForShare(sealer, { projectId, shareId, field: 'password_hash' }, hash);
      return { hash: sealed, passwordClass: passwordClassOf(checkedPassword) };
    }

    async function sealedTexts(): Promise<Partial<Pick<ShareTerms, 'title' | 'note'>>> {
      const { title, note } = changes;
      return {
        ...(title === undefined ? {} : { title: await sealedText('title', checkShareTitle(title)) }),
        ...(note === undefined ? {} : { note: await sealedText('note', checkShareNote(note)) }),
      };
    }

    /** Returns the present sealed text where the text does not change, so that no event follows. */
    async function sealedText(field: 'title' | 'note', text: string | null): Promise<Sealed | null> {
      if (text === null) return null;
      const sealed = present[field];
      if (sealed !== null && (await sealer.open(scope, field, sealed)) === text) return sealed;
      return sealForShare(sealer, { projectId, shareId, field }, text);
    }
  };
}

/** Checks the terms that need no sealing. @throws CommandRejected invalid_request */
function checked(
  {
    expiresAt,
    maxUses,
    allowDownload,
    frameAncestors,
    notifySharer,
    showSender,
  }: ChangeShareInput['changes'],
  now: Date,
): Partial<ShareTerms> {
  return {
    ...(expiresAt === undefined ? {} : { expiresAt: checkShareEnd(expiresAt, now) }),
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(allowDownload === undefined ? {} : { allowDownload }),
    ...(frameAncestors === undefined ? {} : { frameAncestors: checkFrameAncestors(frameAncestors) }),
    ...(notifySharer === undefined ? {} : { notifySharer }),
    ...(showSender === undefined ? {} : { showSender }),
  };
}

export function makeRevokeShare({ handler }: Pick<ShareDeps, 'handler'>): RevokeShare {
  return async ({ projectId, shareId }, context, options) => {
    const target = { aggregate: shareAggregate, id: shareId };
    await handler.handle(target, { type: 'Revoke', projectId }, context, {
      ...options,
      revokesAccess: true,
    });
  };
}
