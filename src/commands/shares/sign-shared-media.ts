import { makeMediaLinks, type MediaLink } from '../assets/media-links.js';
import type { OpenStorage } from '../storages/open-storage.js';
import type { SharedAsset } from './shared-asset.js';
import type { ShareFields } from '../../domain/share/status.js';

/** Signs URLs of a shared asset; null when its storage is gone. @throws StoreUnavailable; errors of `Sealer.open` */
export type SignSharedMedia = (
  shared: SharedAsset,
  terms: Pick<ShareFields, 'allow_download' | 'expires_at'>,
  now: Date,
) => Promise<MediaLink[] | null>;

export function makeSignSharedMedia({
  openStorage,
}: {
  readonly openStorage: Pick<OpenStorage, 'serving'>;
}): SignSharedMedia {
  return async ({ asset }, { allow_download, expires_at }, now) => {
    const storage = await openStorage.serving(asset.storage_id);
    if (storage === null || storage.storage.status === 'disabled') return null;
    const until = expires_at === null ? null : new Date(expires_at);
    const disposition = allow_download ? 'attachment' : 'inline';
    return makeMediaLinks({ storage, asset, disposition, now, until });
  };
}
