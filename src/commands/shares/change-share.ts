import type { Deps } from '../deps.js';
import type { HandleOptions } from '../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../event-sourcing/views/views.js';
import type { Sealed } from '../../event-sourcing/ports/sealed.js';
import { checkSharePassword, type PasswordClass, passwordClassOf } from '../../domain/share/password.js';
import { shareNotFound } from '../../domain/share/rejections.js';
import { openShare, shareAggregate } from '../../domain/share/share.js';
import { checkShareEnd } from '../../domain/share/terms.js';
import type { ShareResource } from '../../../projections/shares/reader.js';
import { refuseWhenFull } from '../shared/refuse-when-full.js';
import { sealForShare } from './share-data.js';

export interface ShareAddress {
  readonly projectId: string;
  readonly shareId: string;
}

export interface ChangeShareInput extends ShareAddress {
  /** Undefined fields do not change. */
  readonly changes: {
    readonly password?: string | undefined;
    readonly expiresAt?: Date | null | undefined;
    readonly maxUses?: number | null | undefined;
    readonly allowDownload?: boolean | undefined;
  };
}

/**
 * Changes a share. A new password ends the sessions of the old one.
 * @throws CommandRejected share_not_found, invalid_request; PreconditionFailed; TooManyAttempts
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
}: Pick<Deps, 'handler' | 'sealer' | 'sharePasswords' | 'shares'>): ChangeShare {
  return async ({ projectId, shareId, changes }, context, options = {}) => {
    const { expiresAt, maxUses, allowDownload } = changes;
    // A share of another project is rejected before the password is hashed and sealed.
    openShare((await handler.load(shareAggregate, shareId)).state, projectId);
    const terms = {
      ...(expiresAt === undefined ? {} : { expiresAt: checkShareEnd(expiresAt, context.time) }),
      ...(maxUses === undefined ? {} : { maxUses }),
      ...(allowDownload === undefined ? {} : { allowDownload }),
    };
    const password = changes.password === undefined ? undefined : await sealedHash(changes.password);
    const { documents } = await handler.handle(
      { aggregate: shareAggregate, id: shareId },
      { type: 'Change', projectId, changes: terms, password },
      context,
      { ...options, revokesAccess: password !== undefined },
    );
    return (await shares.after(documents)) ?? shareNotFound();

    async function sealedHash(
      chosen: string,
    ): Promise<{ readonly hash: Sealed; readonly passwordClass: PasswordClass }> {
      const checked = checkSharePassword(chosen);
      const hash = await refuseWhenFull(() => sharePasswords.fresh.hash(checked));
      const sealed = await sealForShare(sealer, { projectId, shareId, field: 'password_hash' }, hash);
      return { hash: sealed, passwordClass: passwordClassOf(checked) };
    }
  };
}

export function makeRevokeShare({ handler }: Pick<Deps, 'handler'>): RevokeShare {
  return async ({ projectId, shareId }, context, options) => {
    const target = { aggregate: shareAggregate, id: shareId };
    await handler.handle(target, { type: 'Revoke', projectId }, context, {
      ...options,
      revokesAccess: true,
    });
  };
}
