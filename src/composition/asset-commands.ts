import { makeAddAsset } from '../commands/add-asset.js';
import { makeRequireAsset } from '../commands/asset-ownership.js';
import { makeOpenAssetStorage } from '../commands/asset-storage.js';
import { makeRemoveAsset, makeRenameAsset } from '../commands/change-asset.js';
import { makeIssueMediaLinks } from '../commands/issue-media-links.js';
import { makeIssueUploadUrl } from '../commands/issue-upload-url.js';
import { makeOpenStorage } from '../commands/open-storage.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { makeStorageUrls } from '../integrations/object-storage/media-urls.js';
import type { Sealer } from '../keys/sealer.js';
import type { Readers } from './readers.js';

/** Puts together what is done with assets. */
export function makeAssetCommands(deps: {
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly readers: Pick<Readers, 'assets' | 'usage'>;
  readonly sealer: Sealer;
}) {
  const { assets, usage } = deps.readers;
  const common = {
    ...deps,
    assets,
    usage,
    requireAsset: makeRequireAsset(deps),
    openAssetStorage: makeOpenAssetStorage({
      openStorage: makeOpenStorage({ ...deps, makeUrls: makeStorageUrls }),
    }),
  };
  return {
    addAsset: makeAddAsset(common),
    renameAsset: makeRenameAsset(common),
    removeAsset: makeRemoveAsset(common),
    issueUploadUrl: makeIssueUploadUrl(common),
    issueMediaLinks: makeIssueMediaLinks(common),
  };
}
