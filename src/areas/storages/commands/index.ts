import type { StorageDeps } from '../deps.js';
import { makeChanging } from './changing.js';
import { makeChooseFirstDefault } from './choose-first-default.js';
import {
  makeCheckNewStorage,
  makeCreateStorage,
  makeSealCredentials,
  makeStorageLimit,
} from './create-storage.js';
import { makeDeleting } from './deleting.js';
import { makeProbeStorage } from './probing.js';
import { makeAllowsHttp } from '../domain/bucket/bucket.js';

export type StorageCommands = ReturnType<typeof makeStorageCommands>;

export function makeStorageCommands(
  deps: StorageDeps & { readonly hasAssets: (storageId: string) => Promise<boolean> },
) {
  const allowsHttp = makeAllowsHttp(deps.storageAllowedCidrs);
  const common = {
    ...deps,
    allowsHttp,
    sealCredentials: makeSealCredentials(deps),
  };
  return {
    checkNewStorage: makeCheckNewStorage({ allowsHttp }),
    createStorage: makeCreateStorage({ ...common, limit: makeStorageLimit(deps) }),
    ...makeChanging(common),
    chooseFirstDefault: makeChooseFirstDefault(deps),
    ...makeDeleting(deps),
    probeStorage: makeProbeStorage(common),
  };
}
