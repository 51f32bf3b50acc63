import { mediaTypeEssence } from '../../../../validation/text.js';
import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import { rejectShare, shareNotFound, type ShareRejection } from '../../domain/share/rejections.js';
import { isProtected, type OpenShare, shareAggregate, untilEnd } from '../../domain/share/share.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AssetResource } from '../../../../../projections/assets/assets/resource.js';
import { type MediaLink, makePlaylistUrl, signMediaLinks } from '../../../assets/commands/media-links.js';
import type { Accesses, VisitedShare, Visits, SessionShare } from './visits.js';
import { isRejection } from '../../../shared/rejections.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import { makeTrySharePassword } from './try-share-password.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';

/** Signed URLs of the files of one asset, the original first. */
type SignedAsset = { readonly assetId: string; readonly media: MediaLink[] };

interface RenewShareMediaInput {
  readonly token: string;
  readonly session: string;
  /** The asset whose file the visitor saves; null: none. */
  readonly download: string | null;
}

export interface RenewedShareMedia {
  readonly assets: readonly [SignedAsset, ...SignedAsset[]];
  readonly sessionEndsAt: Date;
}

type SharedMedia = ReturnType<typeof makeSharedMedia>;

/** Makes what signs the URLs of shared assets. All throw StoreUnavailable and the errors of `Sealer.open`. */
export function makeSharedMedia(
  deps: ShareDeps & Pick<Visits, 'findShareOfSession'> & Pick<Accesses, 'recordDownload'>,
) {
  const { clock, openStorage, findShareOfSession, recordDownload } = deps;
  const urlOf = makePlaylistUrl(deps);
  return {
    signSharedMedia,
    /**
     * Signs fresh URLs for a visitor with a valid session; it counts no use. It counts a download, once for an asset and a
     * session.
     * @throws CommandRejected share_password_wrong where the session is over, share_not_found where nothing is served,
     * shared_asset_not_found, downloads_off
     */
    renewShareMedia: async (
      input: RenewShareMediaInput,
      context: CommandContext,
    ): Promise<RenewedShareMedia> => {
      const now = clock.now();
      const found = await findShareOfSession(input, now);
      if (input.download !== null) await count(found, input.download, context);
      const [first, ...others] = await signSharedMedia(found, now);
      if (first === undefined) return shareNotFound();
      return { assets: [first, ...others], sessionEndsAt: found.endsAt };
    },
  };

  /** Signs URLs of shared assets, in their order. It leaves out an asset whose storage is gone meanwhile. */
  async function signSharedMedia(
    { shareId, share, shared: { served } }: VisitedShare,
    now: Date,
  ): Promise<readonly SignedAsset[]> {
    const { expires_at, password_generation: passwordGeneration } = share;
    const ids = [...new Set(served.map(({ asset }) => asset.storage_id))];
    const opened = await Promise.all(ids.map(async (id) => [id, await openStorage.serving(id)] as const));
    const storages = new Map<string, OpenedStorage | null>(opened);
    const until = expires_at === null ? null : new Date(expires_at);
    const disposition = share.allow_download ? 'attachment' : 'inline';
    const signed: SignedAsset[] = [];
    for (const { assetId, asset } of served) {
      const storage = storages.get(asset.storage_id) ?? null;
      if (storage === null || storage.storage.status === 'disabled') continue;
      const playlists = { assetId, share: { shareId, passwordGeneration }, urlOf };
      const given = { storage, asset, now, until, playlists };
      const links = await signMediaLinks({ ...given, disposition });
      // A URL that the bucket does not check does not fix the type, so a page must not frame it.
      const { delivery, configuration } = storage.storage;
      const fixesType = configuration.cdn_domain === '' || !['public', 'token'].includes(delivery);
      const isFramed = fixesType && links.some(({ media_type }) => isFramedDocument(media_type));
      const shown = isFramed ? await signMediaLinks({ ...given, disposition: 'inline' }) : [];
      signed.push({ assetId, media: isFramed ? addDocumentLinks(links, shown) : links });
    }
    return signed;
  }

  async function count(
    { shareId, accessId, share, shared }: SessionShare,
    assetId: string,
    context: CommandContext,
  ): Promise<void> {
    if (!share.allow_download) rejectShare('downloads_off', 'the share allows no downloads');
    if (!shared.served.some((asset) => asset.assetId === assetId))
      rejectShare('shared_asset_not_found', 'download names no asset of the share');
    await recordDownload(accessId, { share_id: shareId, asset_id: assetId }, context);
  }
}

/** Types of documents that browsers show in a frame. */
const documentTypes: ReadonlySet<string> = new Set(['application/pdf', 'text/plain']);

/** Returns whether browsers show files of a media type in a frame. Parameters do not count. */
function isFramedDocument(mediaType: string): boolean {
  return documentTypes.has(mediaTypeEssence(mediaType));
}

/**
 * Adds to each document the URL that shows it: the share's own URL may save it, and a link cannot change that for another origin.
 * @param saved the links of the share
 * @param shown links of the same files, in the same order, with the disposition `inline`
 */
export function addDocumentLinks(saved: readonly MediaLink[], shown: readonly MediaLink[]): MediaLink[] {
  return saved.map((link, place) => {
    const inline = isFramedDocument(link.media_type) ? shown[place] : undefined;
    return inline === undefined ? link : { ...link, inline_url: inline.url };
  });
}

export { checkTriedPassword } from '../../domain/share/password.js';

interface VerifyShareInput {
  readonly token: string;
  /** Null: the visitor gives none. */
  readonly password: string | null;
  /** With the visitor, if it opened the share before (`visitorOf`). */
  readonly client: TryingClient;
  /** The session of an earlier visit, which may have ended. */
  readonly session?: string | undefined;
}

type OpenedAsset = { readonly asset: AssetResource; readonly media: MediaLink[] };

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
    { token, password, client, session: earlier }: VerifyShareInput,
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
      const tried = { shareId, share, password, client };
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
    const access = { share_id: shareId, project_id, client_ip_digest: digests.ip(client.ip) };
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
