import type { AssetDeps } from '../deps.js';
import type { AssetDescription } from '../domain/asset/events.js';
import { wholeKey } from '../../storages/domain/bucket/object-key.js';
import type { HeadAnswer } from '../../storages/bucket/objects/head-object.js';
import type { OpenAssetStorage } from './asset-storage.js';

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
