import type { StorageDeps } from '../deps.js';
import { makeChangeDelivery } from './change-delivery.js';
import { makeChangeStorage } from './change-storage.js';
import { makeChooseDefaultStorage, makeChooseFirstDefault } from './choose-first-default.js';
import { makeCheckNewStorage, makeCreateStorage, makeStorageLimit } from './create-storage.js';
import { makeDeleteOrphanedStorages } from './deleting/delete-orphaned-storages.js';
import { makeDeleteStorage, makeDestroyCredentials } from './deleting/delete-storage.js';
import { makeOpenStorage } from './open-storage.js';
import { makeProbeStorage } from './probing/probe-storage.js';
import { makeReplaceStorageCredentials, makeSealCredentials } from './replace-storage-credentials.js';
import { makeSetStorageCors } from './probing/set-storage-cors.js';
import { makeSwitchStorage } from './switch-storage.js';
import { makeAllowsHttp } from '../domain/bucket/allowed-addresses.js';

export type StorageCommands = ReturnType<typeof makeStorageCommands>;

export function makeStorageCommands(
  deps: StorageDeps & { readonly hasAssets: (storageId: string) => Promise<boolean> },
) {
  const allowsHttp = makeAllowsHttp(deps.storageAllowedCidrs);
  const common = {
    ...deps,
    allowsHttp,
    sealCredentials: makeSealCredentials(deps),
    openStorage: makeOpenStorage(deps),
    destroyCredentials: makeDestroyCredentials(deps),
  };
  return {
    checkNewStorage: makeCheckNewStorage({ allowsHttp }),
    createStorage: makeCreateStorage({ ...common, limit: makeStorageLimit(deps) }),
    changeStorage: makeChangeStorage(common),
    replaceStorageCredentials: makeReplaceStorageCredentials(common),
    ...makeSwitchStorage(common),
    changeDelivery: makeChangeDelivery(common),
    chooseDefaultStorage: makeChooseDefaultStorage(common),
    chooseFirstDefault: makeChooseFirstDefault(deps),
    deleteStorage: makeDeleteStorage(common),
    deleteOrphanedStorages: makeDeleteOrphanedStorages(common),
    destroyCredentials: common.destroyCredentials,
    setStorageCors: makeSetStorageCors(common),
    probeStorage: makeProbeStorage(common),
  };
}
