import { rejectAsset } from '../domain/asset/rejections.js';
import type { OpenedStorage, OpenStorage } from './open-storage.js';

/**
 * Opens the storage that an asset is kept in. Whatever else its status is, signing needs no network; one that is disabled or
 * deleted serves nothing (DESIGN 4.4).
 * @throws CommandRejected asset_storage_unusable; and what `OpenStorage.serving` throws
 */
export type OpenAssetStorage = (asset: { readonly storage_id: string }) => Promise<OpenedStorage>;

export function makeOpenAssetStorage({
  openStorage,
}: {
  readonly openStorage: Pick<OpenStorage, 'serving'>;
}): OpenAssetStorage {
  return async ({ storage_id: storageId }) => {
    const opened = await openStorage.serving(storageId);
    if (opened === null) {
      return rejectAsset('asset_storage_unusable', 'the storage that keeps the asset has been deleted');
    }
    if (opened.storage.status === 'disabled') {
      rejectAsset('asset_storage_unusable', 'the storage that keeps the asset is disabled');
    }
    return opened;
  };
}
