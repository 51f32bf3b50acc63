import type { Deps } from '../deps.js';
import { makeAbortAtBucket } from './abort-at-bucket.js';
import { makeAddAsset } from './add-asset.js';
import { makeAskBucket } from './ask-bucket.js';
import { makeOpenAssetStorage } from './asset-storage.js';
import { makeChangeAssetDescription, makeRemoveAsset } from './change-asset.js';
import { makePutAssetRendition, makeRemoveAssetRendition } from './change-renditions.js';
import { makeConfirmUpload } from './confirm-upload.js';
import { makeDeleteObjects } from './delete-objects.js';
import { makeAbortUpload, makeCompleteUpload } from './end-upload.js';
import { makeImportAssets } from './import-assets.js';
import { makeIssueMediaLinks } from './issue-media-links.js';
import { makeIssueUploadUrl } from './issue-upload-url.js';
import { makeRefuseBeyondCapacity } from './refuse-beyond-capacity.js';
import { makePlaylistUrl } from './playlist-urls.js';
import { makeServePlaylist } from './serve-playlist.js';
import { makeListUploadParts, makeStartUpload } from './start-upload.js';
import { makeCapacity } from '../shared/capacity.js';
import { makeObjectKeys } from '../shared/object-keys.js';
import { makeFindSharedAssets } from '../shared/shared-asset.js';
import { makePayerOf } from '../shared/payer-of.js';
import { makeOpenStorage } from '../storages/open-storage.js';

export function makeAssetCommands(deps: Deps) {
  const openStorage = makeOpenStorage(deps);
  const openAssetStorage = makeOpenAssetStorage({ openStorage });
  const askBucket = makeAskBucket({ ...deps, openAssetStorage });
  const refuseBeyondCapacity = makeRefuseBeyondCapacity(deps);
  const common = {
    ...deps,
    capacity: makeCapacity(deps),
    payerOf: makePayerOf(deps),
    objectKeys: makeObjectKeys(deps),
    openStorage,
    playlistUrl: makePlaylistUrl(deps),
    findSharedAssets: makeFindSharedAssets(deps),
    openAssetStorage,
    askBucket,
    refuseBeyondCapacity,
  };
  const abortAtBucket = makeAbortAtBucket(common);
  const confirmUpload = makeConfirmUpload(common);
  return {
    addAsset: makeAddAsset(common),
    changeAssetDescription: makeChangeAssetDescription(common),
    removeAsset: makeRemoveAsset(common),
    putAssetRendition: makePutAssetRendition(common),
    removeAssetRendition: makeRemoveAssetRendition(common),
    deleteObjects: makeDeleteObjects(common),
    importAssets: makeImportAssets(common),
    askBucket,
    abortAtBucket,
    confirmUpload,
    listUploadParts: makeListUploadParts(common),
    startUpload: makeStartUpload(common),
    completeUpload: makeCompleteUpload({ ...common, confirmUpload }),
    abortUpload: makeAbortUpload({ ...deps, abortAtBucket }),
    issueUploadUrl: makeIssueUploadUrl(common),
    issueMediaLinks: makeIssueMediaLinks(common),
    servePlaylist: makeServePlaylist(common),
  };
}
