import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import {
  type MediaLink,
  makeMediaLinks,
  makePlaylistUrl,
} from '../../../assets/commands/media/media-links.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import { rejectShare, shareNotFound } from '../../domain/share/rejections.js';
import type { Accesses, SessionShare, VisitedShare, Visits } from './visits.js';

/** Signed URLs of the files of one asset, the original first. */
export type SignedAsset = { readonly assetId: string; readonly media: MediaLink[] };

export interface RenewShareMediaInput {
  readonly token: string;
  readonly session: string;
  /** The asset whose file the visitor saves; null: none. */
  readonly download: string | null;
}

export interface RenewedShareMedia {
  readonly assets: readonly [SignedAsset, ...SignedAsset[]];
  readonly sessionEndsAt: Date;
}

export type SharedMedia = ReturnType<typeof makeSharedMedia>;

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
    return served.flatMap(({ assetId, asset }) => {
      const storage = storages.get(asset.storage_id) ?? null;
      if (storage === null || storage.storage.status === 'disabled') return [];
      const playlists = { assetId, share: { shareId, passwordGeneration }, urlOf };
      const given = { storage, asset, now, until, playlists };
      const links = makeMediaLinks({ ...given, disposition });
      // A URL of `public` delivery does not fix the type, so a page must not frame it.
      const isSigned = storage.storage.delivery !== 'public';
      if (!isSigned || !links.some(({ media_type }) => isFramedDocument(media_type)))
        return [{ assetId, media: links }];
      const shown = makeMediaLinks({ ...given, disposition: 'inline' });
      return [{ assetId, media: addDocumentLinks(links, shown) }];
    });
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
  return documentTypes.has((mediaType.split(';')[0] ?? '').trim().toLowerCase());
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
