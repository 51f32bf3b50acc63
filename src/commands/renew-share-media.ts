import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { rejectShare, shareNotFound } from '../domain/share/rejections.js';
import { isExpired, shareAggregate } from '../domain/share/share.js';
import type { Digests } from '../keys/digests.js';
import type { ShareSessions } from '../keys/share-sessions.js';
import { digestShareToken } from '../keys/share-tokens.js';
import type { MediaLink } from './media-links.js';
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
 * Signs fresh URLs for a visitor who gave the password within the last 12 hours; no use is counted.
 * @throws CommandRejected share_password_wrong once the session is over, share_not_found when there is nothing to serve
 */
export type RenewShareMedia = (input: RenewShareMediaInput) => Promise<RenewedShareMedia>;

export function makeRenewShareMedia({
  handler,
  digests,
  clock,
  findSharedAsset,
  signSharedMedia,
  shareSessions,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
  readonly findSharedAsset: FindSharedAsset;
  readonly signSharedMedia: SignSharedMedia;
  readonly shareSessions: Pick<ShareSessions, 'verify'>;
}): RenewShareMedia {
  return async ({ token, session }) => {
    const now = clock.now();
    const given = shareSessions.verify(session, now);
    if (given === null) return over();
    const { state: share } = await handler.load(shareAggregate, given.shareId);
    const stands =
      share.status === 'open' &&
      share.passwordGeneration === given.passwordGeneration &&
      share.tokenDigest === digestShareToken(digests, token) &&
      // Its end may have been brought forward since.
      !isExpired(share, now);
    if (!stands) return over();
    const shared = await findSharedAsset(share);
    const media = shared === null ? null : await signSharedMedia(shared, share, now);
    if (media === null) return shareNotFound();
    const end = Math.min(given.endsAt.getTime(), share.expiresAt?.getTime() ?? Infinity);
    return { media, sessionEndsAt: new Date(end) };
  };
}

function over(): never {
  return rejectShare('share_password_wrong', 'the session is over; give the password again');
}
