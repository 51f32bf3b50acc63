import type { ShareDeps } from '../../deps.js';
import { rejectShare, shareNotFound } from '../../domain/share/rejections.js';
import { isExpired, type OpenShare, shareAggregate, untilEnd } from '../../domain/share/share.js';
import { digestShareToken } from '../../../../keys/codes/share-tokens.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { RecordShareAccess } from './record-share-access.js';
import type { FindSharedAssets, SharedAssets } from './shared-asset.js';
import type { SignedAsset, SignSharedMedia } from './sign-shared-media.js';

export interface ShareSessionInput {
  readonly token: string;
  readonly session: string;
}

export interface RenewedShareMedia {
  readonly assets: readonly [SignedAsset, ...SignedAsset[]];
  readonly sessionEndsAt: Date;
}

/**
 * Finds the share of a session that has not ended.
 * @throws CommandRejected share_password_wrong where the session is over, share_not_found where nothing is served
 */
export type FindShareOfSession = (input: ShareSessionInput, now: Date) => Promise<SessionShare>;

export interface SessionShare {
  readonly shareId: string;
  /** See `ShareSession`. */
  readonly accessId: string;
  readonly share: OpenShare;
  readonly shared: SharedAssets;
  readonly endsAt: Date;
}

export function makeFindShareOfSession({
  handler,
  digests,
  findSharedAssets,
  shareSessions,
}: Pick<ShareDeps, 'handler' | 'digests' | 'shareSessions'> & {
  readonly findSharedAssets: FindSharedAssets;
}): FindShareOfSession {
  return async ({ token, session }, now) => {
    const given = shareSessions.verify(session, now);
    if (given === null) return over();
    const { state: share } = await handler.load(shareAggregate, given.shareId);
    const stands =
      share.status === 'open' &&
      share.password_generation === given.passwordGeneration &&
      share.tokenDigest === digestShareToken(digests, token) &&
      // The share may have got an earlier end since.
      !isExpired(share, now);
    if (!stands) return over();
    const shared = await findSharedAssets(share);
    if (shared === null) return shareNotFound();
    const { shareId, accessId } = given;
    return { shareId, accessId, share, shared, endsAt: untilEnd(share, given.endsAt) };
  };
}

export interface RenewShareMediaInput extends ShareSessionInput {
  /** The asset whose file the visitor saves; null: none. */
  readonly download: string | null;
}

/**
 * Signs fresh URLs for a visitor with a valid session; it counts no use. It counts a download, once for an asset and a
 * session.
 * @throws CommandRejected share_password_wrong where the session is over, share_not_found where nothing is served,
 * shared_asset_not_found, downloads_off; StoreUnavailable
 */
export type RenewShareMedia = (
  input: RenewShareMediaInput,
  context: CommandContext,
) => Promise<RenewedShareMedia>;

export function makeRenewShareMedia({
  clock,
  findShareOfSession,
  signSharedMedia,
  recordShareAccess,
}: Pick<ShareDeps, 'clock'> & {
  readonly findShareOfSession: FindShareOfSession;
  readonly signSharedMedia: SignSharedMedia;
  readonly recordShareAccess: Pick<RecordShareAccess, 'recordDownload'>;
}): RenewShareMedia {
  return async (input, context) => {
    const now = clock.now();
    const found = await findShareOfSession(input, now);
    const { shareId, share, shared, endsAt: sessionEndsAt } = found;
    if (input.download !== null) await count(found, input.download, context);
    const [first, ...others] = await signSharedMedia(shared.served, { shareId, share }, now);
    return first === undefined ? shareNotFound() : { assets: [first, ...others], sessionEndsAt };
  };

  async function count(
    { shareId, accessId, share, shared }: SessionShare,
    assetId: string,
    context: CommandContext,
  ): Promise<void> {
    if (!share.allow_download) rejectShare('downloads_off', 'the share allows no downloads');
    if (!shared.served.some((asset) => asset.assetId === assetId)) {
      rejectShare('shared_asset_not_found', 'download names no asset of the share');
    }
    await recordShareAccess.recordDownload({ accessId, shareId, assetId }, context);
  }
}

function over(): never {
  return rejectShare('share_password_wrong', 'the session is over; open the share again');
}
