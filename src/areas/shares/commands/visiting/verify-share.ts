import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
export { checkTriedPassword } from '../../domain/share/password.js';
import { rejectShare, shareNotFound, type ShareRejection } from '../../domain/share/rejections.js';
import { isProtected, type OpenShare, shareAggregate, untilEnd } from '../../domain/share/share.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AssetResource } from '../../../../../projections/assets/assets/reader.js';
import type { MediaLink } from '../../../assets/commands/media/media-links.js';
import type { Accesses, VisitedShare, Visits } from './visits.js';
import { isRejection } from '../../../shared/rejections.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { SharedMedia } from './media.js';
import { makeTrySharePassword } from './try-share-password.js';

export interface VerifyShareInput {
  readonly token: string;
  /** Null: the visitor gives none. */
  readonly password: string | null;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The session of an earlier visit, which may have ended. */
  readonly session?: string | undefined;
  /** The visitor, if it opened the share before (`visitorOf`); null when left out. */
  readonly known?: KnownDevice | null;
}

export type OpenedAsset = { readonly asset: AssetResource; readonly media: MediaLink[] };

export interface OpenedShare {
  readonly share: OpenShare;
  readonly title: string | null;
  readonly note: string | null;
  /** The nickname of the sharer; null where the share does not show it, or an API key made the share. */
  readonly sender: string | null;
  /** Null where uses are not limited. */
  readonly remaining_uses: number | null;
  readonly assets: readonly [OpenedAsset, ...OpenedAsset[]];
  readonly session: string;
  readonly sessionEndsAt: Date;
}

/** The life of a share session (src/areas/shares/README.md#share-verification). */
const sessionMs = 12 * 3_600_000;

/**
 * Checks a share's password (src/areas/shares/README.md#share-verification). A repeated command checks again, signs new URLs, and
 * counts one use in all.
 * @throws CommandRejected share_not_found, share_password_wrong, password_not_checkable;
 * TooManyAttempts; StoreUnavailable
 */
export function makeVerifyShare(
  deps: ShareDeps &
    Pick<Visits, 'findVisitedShare' | 'endingFor'> &
    Pick<SharedMedia, 'signSharedMedia'> &
    Pick<Accesses, 'recordAccess'>,
) {
  const { handler, sealer, digests, clock, shares, assets: assetViews, users, shareSessions } = deps;
  const { findVisitedShare, endingFor, signSharedMedia, recordAccess } = deps;
  const trySharePassword = makeTrySharePassword(deps);
  return async (
    { token, password, clientIp, session: earlier, known = null }: VerifyShareInput,
    context: CommandContext,
  ): Promise<OpenedShare> => {
    const accessId = derivedId(context, 'share-access');
    const found = await findVisitedShare(token, accessId);
    if (found === null) {
      if (password !== null) await trySharePassword.matchesNone(password);
      return shareNotFound(await endingFor({ token, session: earlier }, clock.now()));
    }
    const { shareId, share } = found;
    if (isProtected(share)) {
      if (password === null) return refuse('the share needs a password');
      const tried = { shareId, share, password, clientIp, known };
      if (!(await trySharePassword.matches(tried, context))) return refuse();
    }
    // The URLs and the assets, which may be missing, come before the use is counted.
    const now = clock.now();
    const { project_id, password_generation: passwordGeneration } = share;
    const [assets, texts, sender] = await Promise.all([
      openedAssets(found, now),
      openedTexts(found),
      senderOf(share),
    ]);
    const [first, ...others] = assets;
    if (first === undefined || texts === null) return shareNotFound();
    const remaining_uses = await use(found, { accessId, now }, context);
    const access = { share_id: shareId, project_id, client_ip_digest: digests.ip(clientIp) };
    await recordAccess(accessId, access, context);
    const sessionEndsAt = untilEnd(share, new Date(now.getTime() + sessionMs));
    const session = shareSessions.issue({ shareId, accessId, passwordGeneration, endsAt: sessionEndsAt });
    return { share, ...texts, sender, remaining_uses, assets: [first, ...others], session, sessionEndsAt };
  };

  async function openedAssets(found: VisitedShare, now: Date): Promise<readonly OpenedAsset[]> {
    const ids = found.shared.served.map(({ assetId }) => assetId);
    const [signed, resources] = await Promise.all([
      signSharedMedia(found, now),
      assetViews.findMany(found.share.project_id, ids),
    ]);
    return signed.flatMap(({ assetId, media }) => {
      const asset = resources.get(assetId);
      return asset === undefined ? [] : [{ asset, media }];
    });
  }

  async function senderOf({ show_sender, created_by }: OpenShare): Promise<string | null> {
    if (!show_sender || created_by === null) return null;
    return (await users.people([created_by])).get(created_by)?.nickname ?? null;
  }

  /** Returns null where the share was revoked meanwhile. */
  async function openedTexts({
    shareId,
    share: { project_id: projectId, title, note },
  }: VisitedShare): Promise<Pick<OpenedShare, 'title' | 'note'> | null> {
    const scope = { kind: 'share', projectId, shareId } as const;
    const [openTitle, openNote] = await Promise.all([
      title === null ? null : sealer.open(scope, 'title', title),
      note === null ? null : sealer.open(scope, 'note', note),
    ]);
    return openTitle === erased || openNote === erased ? null : { title: openTitle, note: openNote };
  }

  /**
   * Counts the use where uses are limited. It also checks the share again, because the check of the password may have
   * taken seconds. @returns the uses that are left; null where they are not limited
   */
  async function use(
    { shareId, share: { password_generation: passwordGeneration } }: VisitedShare,
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
      const { documents } = await handler.handle(shareAggregate.at(shareId), command, context);
      return shares.remainingUses(documents);
    } catch (error) {
      // The password changed after the check.
      if (isRejection<ShareRejection>(error, 'share_password_changed')) return refuse();
      throw error;
    }
  }
}

function refuse(message = 'the password is wrong'): never {
  return rejectShare('share_password_wrong', message);
}
