import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import type { Versioned } from '../event-sourcing/views.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import { checkSharePassword } from '../domain/share/password.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { shareAggregate } from '../domain/share/share.js';
import { checkShareEnd } from '../domain/share/terms.js';
import type { Sealer } from '../keys/sealer.js';
import type { SharePasswords } from '../security/share-passwords.js';
import type { ShareReader, ShareResource } from '../../projections/shares/reader.js';
import { refuseWhenFull } from './refuse-when-full.js';
import { sealForShare } from './share-data.js';
import type { ShareOwnership } from './share-ownership.js';

export interface ShareAddress {
  readonly projectId: string;
  readonly shareId: string;
}

export interface ChangeShareInput extends ShareAddress {
  /** What is left out stays as it is. */
  readonly changes: {
    readonly password?: string | undefined;
    readonly expiresAt?: Date | null | undefined;
    readonly maxUses?: number | null | undefined;
    readonly allowDownload?: boolean | undefined;
  };
}

/**
 * Changes a share. Another password ends the sessions that were opened with the one before.
 * @throws CommandRejected share_not_found, invalid_request; PreconditionFailed; TooManyAttempts
 */
export type ChangeShare = (
  input: ChangeShareInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<ShareResource>>;

/** Ends a share and the sessions that were opened with it. @throws CommandRejected share_not_found; PreconditionFailed */
export type RevokeShare = (
  input: ShareAddress,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

interface ShareChangeDeps {
  readonly handler: CommandHandler;
  readonly ownership: ShareOwnership;
}

export function makeChangeShare({
  handler,
  ownership,
  sealer,
  sharePasswords,
  shares,
}: ShareChangeDeps & {
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly sharePasswords: SharePasswords;
  readonly shares: Pick<ShareReader, 'after'>;
}): ChangeShare {
  return async ({ projectId, shareId, changes }, context, options = {}) => {
    const { password, expiresAt, maxUses, allowDownload } = changes;
    await ownership.require(projectId, shareId);
    const terms = {
      ...(expiresAt === undefined ? {} : { expiresAt: checkShareEnd(expiresAt, context.time) }),
      ...(maxUses === undefined ? {} : { maxUses }),
      ...(allowDownload === undefined ? {} : { allowDownload }),
    };
    const passwordHash = password === undefined ? undefined : await sealedHash(password);
    const { documents } = await handler.handle(
      { aggregate: shareAggregate, id: shareId },
      { type: 'Change', changes: terms, passwordHash },
      context,
      { ...options, revokesAccess: passwordHash !== undefined },
    );
    return (await shares.after(documents)) ?? shareNotFound();

    async function sealedHash(chosen: string): Promise<Sealed> {
      const checked = checkSharePassword(chosen);
      const hash = await refuseWhenFull(() => sharePasswords.fresh.hash(checked));
      return sealForShare(sealer, { projectId, shareId, field: 'password_hash' }, hash);
    }
  };
}

export function makeRevokeShare({ handler, ownership }: ShareChangeDeps): RevokeShare {
  return async ({ projectId, shareId }, context, options) => {
    await ownership.require(projectId, shareId);
    const target = { aggregate: shareAggregate, id: shareId };
    await handler.handle(target, { type: 'Revoke' }, context, { ...options, revokesAccess: true });
  };
}
