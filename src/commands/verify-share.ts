import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import { checkTriedPassword } from '../domain/share/password.js';
import { rejectShare, shareNotFound } from '../domain/share/rejections.js';
import { isUsableBy, type OpenShare, shareAggregate } from '../domain/share/share.js';
import type { Digests } from '../keys/digests.js';
import type { ShareSessions } from '../keys/share-sessions.js';
import { digestShareToken } from '../keys/share-tokens.js';
import type { AssetReader, AssetResource } from '../../projections/assets/reader.js';
import type { ShareReader } from '../../projections/shares/reader.js';
import type { MediaLink } from './media-links.js';
import type { RecordShareAccess } from './record-share-access.js';
import { isRejection } from './rejections.js';
import { type FindSharedAsset, nobodysId, type SharedAsset } from './shared-asset.js';
import type { SignSharedMedia } from './sign-shared-media.js';
import type { TrySharePassword } from './try-share-password.js';

export interface VerifyShareInput {
  readonly token: string;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

/** What the right password opens. */
export interface OpenedShare {
  readonly share: Pick<OpenShare, 'expiresAt' | 'allowDownload'>;
  /** Null where uses are not limited. */
  readonly remainingUses: number | null;
  readonly asset: AssetResource;
  readonly media: MediaLink[];
  readonly session: string;
  readonly sessionEndsAt: Date;
}

/**
 * Checks a share's password (API document 4.6). Repeated as the same command it checks again, signs anew, and counts one use.
 * @throws CommandRejected invalid_request, share_not_found, share_password_wrong, password_not_checkable; TooManyAttempts;
 *   StoreUnavailable
 */
export type VerifyShare = (input: VerifyShareInput, context: CommandContext) => Promise<OpenedShare>;

/** DESIGN 4.4. */
const sessionMs = 12 * 3_600_000;

export function makeVerifyShare({
  handler,
  digests,
  clock,
  shares,
  assets,
  findSharedAsset,
  trySharePassword,
  signSharedMedia,
  recordShareAccess,
  shareSessions,
}: {
  readonly handler: CommandHandler;
  readonly digests: Pick<Digests, 'of' | 'ip'>;
  readonly clock: Clock;
  readonly shares: Pick<ShareReader, 'idByToken' | 'remainingUses'>;
  readonly assets: Pick<AssetReader, 'find'>;
  readonly findSharedAsset: FindSharedAsset;
  readonly trySharePassword: TrySharePassword;
  readonly signSharedMedia: SignSharedMedia;
  readonly recordShareAccess: Pick<RecordShareAccess, 'record'>;
  readonly shareSessions: Pick<ShareSessions, 'issue'>;
}): VerifyShare {
  return async ({ token, clientIp, ...input }, context) => {
    const password = checkTriedPassword(input.password);
    const accessId = derivedId(context, 'share-access');
    const found = await find(token, accessId);
    if (found === null) {
      await trySharePassword.matchesNone(password);
      return shareNotFound();
    }
    const { shareId, share, shared } = found;
    if (!(await trySharePassword.matches({ shareId, share, password, clientIp }, context))) return refuse();

    // All that may fail comes before the use is counted.
    const now = clock.now();
    const { projectId, passwordGeneration, expiresAt } = share;
    const [media, asset] = await Promise.all([
      signSharedMedia(shared, share, now),
      assets.find(projectId, shared.assetId),
    ]);
    if (media === null || asset === null) return shareNotFound();
    const remainingUses = await use(found, { accessId, now }, context);
    const clientIpDigest = digests.ip(clientIp);
    await recordShareAccess.record({ accessId, shareId, projectId, clientIpDigest }, context);
    const sessionEndsAt = new Date(Math.min(now.getTime() + sessionMs, expiresAt?.getTime() ?? Infinity));
    const session = shareSessions.issue({ shareId, passwordGeneration, endsAt: sessionEndsAt });
    return { share, remainingUses, asset: asset.resource, media, session, sessionEndsAt };
  };

  /** Null for whatever does not open: the stores are asked the same in every case. */
  async function find(token: string, accessId: string): Promise<Found | null> {
    const shareId = (await shares.idByToken(digestShareToken(digests, token))) ?? nobodysId;
    const { state } = await handler.load(shareAggregate, shareId);
    const share = state.status === 'open' ? state : null;
    const shared = await findSharedAsset(share);
    if (share === null || shared === null || !isUsableBy(share, accessId, clock.now())) return null;
    return { shareId, share, shared };
  }

  /**
   * Counts the use where uses are limited, and holds the share against what has become of it while the password was checked, which
   * may have taken seconds. @returns how many uses are left
   */
  async function use(
    { shareId, share: { passwordGeneration } }: Found,
    { accessId, now }: { readonly accessId: string; readonly now: Date },
    context: CommandContext,
  ): Promise<number | null> {
    const command = { type: 'Use', accessId, passwordGeneration, now } as const;
    try {
      const { state } = await handler.load(shareAggregate, shareId);
      // Where nothing is counted nothing is written, not even the document once more: a busy share is no hot spot.
      if (state.status === 'open' && state.maxUses === null) {
        shareAggregate.decider.decide(command, state);
        return null;
      }
      const { documents } = await handler.handle(
        { aggregate: shareAggregate, id: shareId },
        command,
        context,
      );
      return shares.remainingUses(documents);
    } catch (error) {
      // It was right when it was checked; it is not any more.
      if (isRejection(error, 'share_password_changed')) return refuse();
      throw error;
    }
  }
}

interface Found {
  readonly shareId: string;
  readonly share: OpenShare;
  readonly shared: SharedAsset;
}

function refuse(): never {
  return rejectShare('share_password_wrong', 'the password is wrong');
}
