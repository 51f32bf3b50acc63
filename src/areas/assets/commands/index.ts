import type { AssetDeps } from '../deps.js';
import { makeAbortAtBucket, makeAbortUpload, makeCompleteUpload } from './uploads/end-upload.js';
import { makeAddAsset, makeAskBucket, makeOpenAssetStorage } from './add-asset.js';
import { makeChangingAssets } from './change-asset.js';
import { makeConfirmUpload } from './uploads/confirm-upload.js';
import { makeDeleteObjects } from './delete-objects.js';
import { makeImportAssets } from './import-assets.js';
import { makeIssueMediaLinks, makePlaylistUrl } from './media-links.js';
import { makeIssueUploadUrl } from './uploads/issue-upload-url.js';
import { makeIsUploadOpen, makeListUploadParts, makeStartUpload } from './uploads/start-upload.js';
import { makeCapacity } from './capacity.js';
import { makeObjectKeys } from './object-keys.js';
import { makePayerOf } from '../../projects/commands/projects.js';

export type AssetCommands = ReturnType<typeof makeAssetCommands>;

export function makeAssetCommands(deps: AssetDeps) {
  const openAssetStorage = makeOpenAssetStorage(deps);
  const askBucket = makeAskBucket({ ...deps, openAssetStorage });
  const common = {
    ...deps,
    capacity: makeCapacity(deps),
    payerOf: makePayerOf(deps),
    objectKeys: makeObjectKeys(deps),
    playlistUrl: makePlaylistUrl(deps),
    openAssetStorage,
    askBucket,
  };
  const abortAtBucket = makeAbortAtBucket(common);
  return {
    addAsset: makeAddAsset(common),
    ...makeChangingAssets(common),
    deleteObjects: makeDeleteObjects(common),
    importAssets: makeImportAssets(common),
    askBucket,
    abortAtBucket,
    confirmUpload: makeConfirmUpload(common),
    listUploadParts: makeListUploadParts(common),
    startUpload: makeStartUpload(common),
    isUploadOpen: makeIsUploadOpen(common),
    completeUpload: makeCompleteUpload(common),
    abortUpload: makeAbortUpload({ ...deps, abortAtBucket }),
    issueUploadUrl: makeIssueUploadUrl(common),
    issueMediaLinks: makeIssueMediaLinks(common),
  };
}
