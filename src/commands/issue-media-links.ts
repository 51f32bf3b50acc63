import type { Clock } from '../event-sourcing/clock.js';
import type { AssetAddress, RequireAsset } from './asset-ownership.js';
import type { OpenAssetStorage } from './asset-storage.js';
import type { Disposition } from './content-disposition.js';
import { makeMediaLinks, type MediaLink } from './media-links.js';

/** Signs URLs of an asset's files for members. @throws CommandRejected asset_not_found, asset_storage_unusable */
export type IssueMediaLinks = (
  input: AssetAddress & { readonly disposition: Disposition },
) => Promise<MediaLink[]>;

export function makeIssueMediaLinks({
  clock,
  requireAsset,
  openAssetStorage,
}: {
  readonly clock: Clock;
  readonly requireAsset: RequireAsset;
  readonly openAssetStorage: OpenAssetStorage;
}): IssueMediaLinks {
  return async ({ disposition, ...address }) => {
    const asset = await requireAsset(address);
    const storage = await openAssetStorage(asset);
    return makeMediaLinks({ storage, asset, disposition, now: clock.now(), until: null });
  };
}
