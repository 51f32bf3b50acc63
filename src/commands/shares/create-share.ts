import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../event-sourcing/views/views.js';
import { assetAggregate, existingAsset } from '../../domain/asset/asset.js';
import { checkSharePassword, passwordClassOf } from '../../domain/share/password.js';
import { shareNotFound } from '../../domain/share/rejections.js';
import { shareAggregate } from '../../domain/share/share.js';
import { checkShareEnd } from '../../domain/share/terms.js';
import { digestShareToken, makeShareToken } from '../../keys/share-tokens.js';
import type { ShareResource } from '../../../projections/shares/reader.js';
import { refuseWhenFull } from '../shared/refuse-when-full.js';
import { sealForShare } from './share-data.js';

export interface CreateShareInput {
  readonly projectId: string;
  readonly assetId: string;
  readonly password: string;
  /** Null: never. */
  readonly expiresAt: Date | null;
  /** Null: unlimited. */
  readonly maxUses: number | null;
  readonly allowDownload: boolean;
  /** The user who creates it; null for an API key. */
  readonly createdBy: string | null;
}

/**
 * Shares an asset behind a password (docs/design.md#shares). A repeated command returns the share of the first one.
 * @throws CommandRejected asset_not_found, invalid_request; share_not_found where it is revoked since; TooManyAttempts
 */
export type CreateShare = (
  input: CreateShareInput,
  context: CommandContext,
) => Promise<Versioned<ShareResource>>;

/** Checks what needs no store. @throws CommandRejected invalid_request */
export function checkNewShare(
  input: Pick<CreateShareInput, 'password' | 'expiresAt'>,
  now: Date,
): Pick<CreateShareInput, 'password' | 'expiresAt'> {
  return { password: checkSharePassword(input.password), expiresAt: checkShareEnd(input.expiresAt, now) };
}

export function makeCreateShare({
  handler,
  sealer,
  digests,
  randomBytes,
  sharePasswords,
  shares,
}: Pick<Deps, 'handler' | 'sealer' | 'digests' | 'randomBytes' | 'sharePasswords' | 'shares'>): CreateShare {
  return async (input, context) => {
    const { projectId, assetId, maxUses, allowDownload, createdBy } = input;
    const { password, expiresAt } = checkNewShare(input, context.time);
    existingAsset((await handler.load(assetAggregate, assetId)).state, projectId);
    const shareId = derivedId(context, 'share');
    const place = { projectId, shareId };
    const token = makeShareToken(randomBytes);
    const hash = await refuseWhenFull(() => sharePasswords.fresh.hash(password));
    const { documents } = await handler.handle(
      { aggregate: shareAggregate, id: shareId },
      {
        type: 'Create',
        ...{ projectId, assetId, expiresAt, maxUses, allowDownload, createdBy },
        token: await sealForShare(sealer, { ...place, field: 'token' }, token),
        tokenDigest: digestShareToken(digests, token),
        passwordHash: await sealForShare(sealer, { ...place, field: 'password_hash' }, hash),
        passwordClass: passwordClassOf(password),
      },
      context,
    );
    return (await shares.after(documents)) ?? shareNotFound();
  };
}
