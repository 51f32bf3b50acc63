import { beginning, type CommandContext, type CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import { checkSharePassword } from '../domain/share/password.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { shareAggregate } from '../domain/share/share.js';
import { checkShareEnd } from '../domain/share/terms.js';
import type { Digests } from '../keys/digests.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { Sealer } from '../keys/sealer.js';
import { digestShareToken, makeShareToken } from '../keys/share-tokens.js';
import type { SharePasswords } from '../security/share-passwords.js';
import type { ShareReader, ShareResource } from '../../projections/shares/reader.js';
import { refuseWhenFull } from './refuse-when-full.js';
import { sealForShare } from './share-data.js';

export interface CreateShareInput {
  readonly projectId: string;
  readonly assetId: string;
  readonly password: string;
  /** Null: never. */
  readonly expiresAt: Date | null;
  /** Null: as often as anybody likes. */
  readonly maxUses: number | null;
  readonly allowDownload: boolean;
  /** The user who creates it; null for a key. */
  readonly createdBy: string | null;
}

/**
 * Shares an asset behind a password (DESIGN 4.4). A repeated command answers with the share that the first one made.
 * @throws CommandRejected asset_not_found, invalid_request; share_not_found where it has been revoked by now; TooManyAttempts
 */
export type CreateShare = (
  input: CreateShareInput,
  context: CommandContext,
) => Promise<Versioned<ShareResource>>;

export function makeCreateShare({
  handler,
  sealer,
  digests,
  randomBytes,
  sharePasswords,
  shares,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly randomBytes: RandomBytes;
  readonly sharePasswords: SharePasswords;
  readonly shares: Pick<ShareReader, 'after'>;
}): CreateShare {
  return async (input, context) => {
    const { projectId, assetId, maxUses, allowDownload, createdBy } = input;
    const password = checkSharePassword(input.password);
    const expiresAt = checkShareEnd(input.expiresAt, context.time);
    await requireAsset(projectId, assetId);
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
      },
      context,
      beginning(context),
    );
    return (await shares.after(documents)) ?? shareNotFound();
  };

  async function requireAsset(projectId: string, assetId: string): Promise<void> {
    const { state } = await handler.load(assetAggregate, assetId);
    if (state.status === 'existing' && state.project_id === projectId) return;
    rejectAsset('asset_not_found', 'the asset does not exist');
  }
}
