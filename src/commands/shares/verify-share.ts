import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../event-sourcing/deciding/ids.js';
import { checkTriedPassword } from '../../domain/share/password.js';
import { rejectShare, shareNotFound } from '../../domain/share/rejections.js';
import { isUsableBy, type OpenShare, shareAggregate, untilEnd } from '../../domain/share/share.js';
import { digestShareToken } from '../../keys/share-tokens.js';
import type { AssetResource } from '../../../projections/assets/reader.js';
import type { MediaLink } from '../assets/media-links.js';
import type { RecordShareAccess } from './record-share-access.js';
import { isRejection } from '../shared/rejections.js';
import { type FindSharedAsset, nobodysId, type SharedAsset } from './shared-asset.js';
import type { SignSharedMedia } from './sign-shared-media.js';
import type { TrySharePassword } from './try-share-password.js';

export interface VerifyShareInput {
  readonly token: string;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

export interface OpenedShare {
  readonly share: Pick<OpenShare, 'expires_at' | 'allow_download'>;
  /** Null where uses are not limited. */
  readonly remainingUses: number | null;
  readonly asset: AssetResource;
  readonly media: MediaLink[];
  readonly session: string;
  readonly sessionEndsAt: Date;
}

/**
 * Checks a share's password (docs/design.md#share-verification). A repeated command checks again, signs new URLs, and
 * counts one use in all.
 * @throws CommandRejected invalid_request, share_not_found, share_password_wrong, password_not_checkable;
 * TooManyAttempts; StoreUnavailable
 */
export type VerifyShare = (input: VerifyShareInput, context: CommandContext) => Promise<OpenedShare>;

/** The life of a share session (docs/design.md#share-verification). */
const sessionMs = 12 * 3_600_000;

/** Checks what needs no store, and returns the password. @throws CommandRejected invalid_request */
export function checkVisit({ password }: Pick<VerifyShareInput, 'password'>): string {
  return checkTriedPassword(password);
}

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
}: Pick<Deps, 'handler' | 'digests' | 'clock' | 'shares' | 'assets' | 'shareSessions'> & {
  readonly findSharedAsset: FindSharedAsset;
  readonly trySharePassword: TrySharePassword;
  readonly signSharedMedia: SignSharedMedia;
  readonly recordShareAccess: Pick<RecordShareAccess, 'record'>;
}): VerifyShare {
  return async ({ token, clientIp, ...input }, context) => {
    const password = checkVisit(input);
    const accessId = derivedId(context, 'share-access');
    const found = await find(token, accessId);
    if (found === null) {
      await trySharePassword.matchesNone(password);
      return shareNotFound();
    }
    const { shareId, share, shared } = found;
    if (!(await trySharePassword.matches({ shareId, share, password, clientIp }, context))) return refuse();

    // The URLs and the asset, which may be missing, come before the use is counted.
    const now = clock.now();
    const { projectId, password_generation: passwordGeneration } = share;
    const [media, asset] = await Promise.all([
      signSharedMedia(shared, share, now),
      assets.find(projectId, shared.assetId),
    ]);
    if (media === null || asset === null) return shareNotFound();
    const remainingUses = await use(found, { accessId, now }, context);
    const clientIpDigest = digests.ip(clientIp);
    await recordShareAccess.record({ accessId, shareId, projectId, clientIpDigest }, context);
    const sessionEndsAt = untilEnd(share, new Date(now.getTime() + sessionMs));
    const session = shareSessions.issue({ shareId, passwordGeneration, endsAt: sessionEndsAt });
    return { share, remainingUses, asset: asset.resource, media, session, sessionEndsAt };
  };

  /** Returns null for a share that does not open. All cases make the same store calls. */
  async function find(token: string, accessId: string): Promise<Found | null> {
    const shareId = (await shares.idByToken(digestShareToken(digests, token))) ?? nobodysId;
    const { state } = await handler.load(shareAggregate, shareId);
    const share = state.status === 'open' ? state : null;
    const shared = await findSharedAsset(share);
    if (share === null || shared === null || !isUsableBy(share, accessId, clock.now())) return null;
    return { shareId, share, shared };
  }

  /**
   * Counts the use where uses are limited. It also checks the share again, because the check of the password may have
   * taken seconds. @returns the uses that are left; null where they are not limited
   */
  async function use(
    { shareId, share: { password_generation: passwordGeneration } }: Found,
    { accessId, now }: { readonly accessId: string; readonly now: Date },
    context: CommandContext,
  ): Promise<number | null> {
    const command = { type: 'Use', accessId, passwordGeneration, now } as const;
    try {
      const { state } = await handler.load(shareAggregate, shareId);
      // Without a limit nothing is appended and no document is written, so a busy share is no hot spot.
      if (state.status === 'open' && state.max_uses === null) {
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
      // The password changed after the check.
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
