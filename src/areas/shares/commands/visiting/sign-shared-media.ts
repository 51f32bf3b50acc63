import { makeMediaLinks, type MediaLink } from '../../../assets/commands/media/media-links.js';
import { addDocumentLinks, isFramedDocument } from './document-links.js';
import type { OpenedStorage, OpenStorage } from '../../../storages/commands/open-storage.js';
import type { SharedAsset } from './shared-asset.js';
import type { OpenShare } from '../../domain/share/share.js';
import type { PlaylistUrl } from '../../../assets/commands/media/playlist-urls.js';

/** Signed URLs of the files of one asset, the original first. */
export interface SignedAsset {
  readonly assetId: string;
  readonly media: MediaLink[];
}

/**
 * Signs URLs of shared assets, in their order. It leaves out an asset whose storage is gone meanwhile.
 * @throws StoreUnavailable; errors of `Sealer.open`
 */
export type SignSharedMedia = (
  shared: readonly SharedAsset[],
  visit: { readonly shareId: string; readonly share: OpenShare },
  now: Date,
) => Promise<readonly SignedAsset[]>;

export function makeSignSharedMedia({
  openStorage,
  playlistUrl: urlOf,
}: {
  readonly openStorage: Pick<OpenStorage, 'serving'>;
  readonly playlistUrl: PlaylistUrl;
}): SignSharedMedia {
  return async (shared, { shareId, share }, now) => {
    const { allow_download, expires_at, password_generation: passwordGeneration } = share;
    const ids = [...new Set(shared.map(({ asset }) => asset.storage_id))];
    const opened = await Promise.all(ids.map(async (id) => [id, await openStorage.serving(id)] as const));
    const storages = new Map<string, OpenedStorage | null>(opened);
    const until = expires_at === null ? null : new Date(expires_at);
    const disposition = allow_download ? 'attachment' : 'inline';
    return shared.flatMap(({ assetId, asset }) => {
      const storage = storages.get(asset.storage_id) ?? null;
      if (storage === null || storage.storage.status === 'disabled') return [];
      const playlists = { assetId, share: { shareId, passwordGeneration }, urlOf };
      const given = { storage, asset, now, until, playlists };
      const links = makeMediaLinks({ ...given, disposition });
      // A URL of `public` delivery does not fix the type, so a page must not frame it.
      const isSigned = storage.storage.delivery !== 'public';
      if (!isSigned || !links.some(({ media_type }) => isFramedDocument(media_type))) {
        return [{ assetId, media: links }];
      }
      const shown = makeMediaLinks({ ...given, disposition: 'inline' });
      return [{ assetId, media: addDocumentLinks(links, shown) }];
    });
  };
}
