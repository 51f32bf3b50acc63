import { makeMediaLinks, type MediaLink } from './media-links.js';
import type { OpenStorage } from './open-storage.js';
import type { SharedAsset } from './shared-asset.js';
import type { ShareTerms } from '../domain/share/share.js';

/** URLs of a shared asset's files; null when its storage went a moment ago. @throws StoreUnavailable; what `Sealer.open` throws */
export type SignSharedMedia = (
  shared: SharedAsset,
  terms: Pick<ShareTerms, 'allowDownload' | 'expiresAt'>,
  now: Date,
) => Promise<MediaLink[] | null>;

export function makeSignSharedMedia({
  openStorage,
}: {
  readonly openStorage: Pick<OpenStorage, 'serving'>;
}): SignSharedMedia {
  return async ({ asset }, { allowDownload, expiresAt }, now) => {
    const storage = await openStorage.serving(asset.storage_id);
    if (storage === null || storage.storage.status === 'disabled') return null;
    const disposition = allowDownload ? 'attachment' : 'inline';
    return makeMediaLinks({ storage, asset, disposition, now, until: expiresAt });
  };
}
