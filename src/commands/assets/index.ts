import type { Deps } from '../deps.js';
import { makeAddAsset } from './add-asset.js';
import { makeOpenAssetStorage } from './asset-storage.js';
import { makeRemoveAsset, makeRenameAsset } from './change-asset.js';
import { makeIssueMediaLinks } from './issue-media-links.js';
import { makeIssueUploadUrl } from './issue-upload-url.js';
import { makeCapacity } from '../shared/capacity.js';
import { makeOpenStorage } from '../storages/open-storage.js';

export function makeAssetCommands(deps: Deps) {
  const common = {
    ...deps,
    capacity: makeCapacity(deps),
    openAssetStorage: makeOpenAssetStorage({ openStorage: makeOpenStorage(deps) }),
  };
  return {
    addAsset: makeAddAsset(common),
    renameAsset: makeRenameAsset(common),
    removeAsset: makeRemoveAsset(common),
    issueUploadUrl: makeIssueUploadUrl(common),
    issueMediaLinks: makeIssueMediaLinks(common),
  };
}
