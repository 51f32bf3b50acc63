import { rejectAsset } from '../domain/asset/rejections.js';
import type { OpenedStorage, OpenStorage } from '../../storages/commands/open-storage.js';

/**
 * Opens the storage of an asset, unless it is disabled or deleted (src/areas/assets/README.md#rules-of-an-asset). It may be untested, because
 * signing needs no network.
 * @throws CommandRejected asset_storage_unusable; the errors of `OpenStorage.serving`
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
