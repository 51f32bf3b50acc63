import type { Deps } from '../deps.js';
import { rejectShare, shareNotFound } from '../../domain/share/rejections.js';
import { isExpired, shareAggregate, untilEnd } from '../../domain/share/share.js';
import { digestShareToken } from '../../keys/share-tokens.js';
import type { MediaLink } from '../assets/media-links.js';
import type { FindSharedAsset } from './shared-asset.js';
import type { SignSharedMedia } from './sign-shared-media.js';

export interface RenewShareMediaInput {
  readonly token: string;
  readonly session: string;
}

export interface RenewedShareMedia {
  readonly media: MediaLink[];
  readonly sessionEndsAt: Date;
}

/**
 * Signs fresh URLs for a visitor with a valid session; it counts no use.
 * @throws CommandRejected share_password_wrong where the session is over, share_not_found where nothing is served
 */
export type RenewShareMedia = (input: RenewShareMediaInput) => Promise<RenewedShareMedia>;

export function makeRenewShareMedia({
  handler,
  digests,
  clock,
  findSharedAsset,
  signSharedMedia,
  shareSessions,
}: Pick<Deps, 'handler' | 'digests' | 'clock' | 'shareSessions'> & {
  readonly findSharedAsset: FindSharedAsset;
  readonly signSharedMedia: SignSharedMedia;
}): RenewShareMedia {
  return async ({ token, session }) => {
    const now = clock.now();
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
    const shared = await findSharedAsset(share);
    const media = shared === null ? null : await signSharedMedia(shared, share, now);
    if (media === null) return shareNotFound();
    return { media, sessionEndsAt: untilEnd(share, given.endsAt) };
  };
}

function over(): never {
  return rejectShare('share_password_wrong', 'the session is over; give the password again');
}
