import { rejectAsset } from '../domain/asset/rejections.js';
import type { OpenStorage, OpenedStorage } from '../../storages/commands/open-storage.js';
import type { AssetDeps } from '../deps.js';
import type { AssetDescription } from '../domain/asset/events.js';
import { wholeKey } from '../../storages/domain/bucket/object-key-rules.js';
import type { HeadAnswer } from '../../storages/bucket/objects/head-object.js';

/**
 * Asks the bucket of an asset for the asset's own file (src/areas/assets/README.md#uploads).
 * @throws CommandRejected asset_storage_unusable; the errors of `OpenStorage.serving`; the signal's reason
 */
export type AskBucket = (
  asset: Pick<AssetDescription, 'storage_id' | 'object_key'>,
  signal?: AbortSignal,
) => Promise<HeadAnswer>;

export function makeAskBucket({
  headObject,
  openAssetStorage,
}: Pick<AssetDeps, 'headObject'> & { readonly openAssetStorage: OpenAssetStorage }): AskBucket {
  return async (asset, signal) => {
    const { storage, urls } = await openAssetStorage(asset);
    const { provider, base_path: basePath } = storage.configuration;
    return headObject({ urls, provider, key: wholeKey(basePath, asset.object_key) }, signal);
  };
}

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
