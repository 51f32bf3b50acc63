import type { AssetDeps } from '../../deps.js';
import { assetAggregate, existingAsset } from '../../domain/asset/asset.js';
import type { AssetAddress } from '../change-asset.js';
import type { OpenAssetStorage } from '../asset-storage.js';
import type { DispositionType } from './content-disposition.js';
import type { PlaylistUrl } from './playlist-urls.js';
import { makeMediaLinks, type MediaLink } from './media-links.js';

/** Signs URLs of an asset's files for members. @throws CommandRejected asset_not_found, asset_storage_unusable */
export type IssueMediaLinks = (
  input: AssetAddress & { readonly disposition: DispositionType },
) => Promise<MediaLink[]>;

export function makeIssueMediaLinks({
  clock,
  handler,
  openAssetStorage,
  playlistUrl,
}: Pick<AssetDeps, 'clock' | 'handler'> & {
  readonly openAssetStorage: OpenAssetStorage;
  readonly playlistUrl: PlaylistUrl;
}): IssueMediaLinks {
  return async ({ projectId, assetId, disposition }) => {
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const storage = await openAssetStorage(asset);
    const playlists = { assetId, share: null, urlOf: playlistUrl };
    return makeMediaLinks({ storage, asset, disposition, now: clock.now(), until: null, playlists });
  };
}
