import { randomUUID } from 'node:crypto';
import { makeChangeStorage } from '../commands/change-storage.js';
import { makeChooseDefaultStorage } from '../commands/choose-default-storage.js';
import { makeChooseFirstDefault } from '../commands/choose-first-default.js';
import { makeCreateStorage } from '../commands/create-storage.js';
import { makeDeleteOrphanedStorages } from '../commands/delete-orphaned-storages.js';
import { makeDeleteStorage, makeDestroyCredentials } from '../commands/delete-storage.js';
import { makeOpenStorage } from '../commands/open-storage.js';
import { makeProbeStorage } from '../commands/probe-storage.js';
import { makeReplaceStorageCredentials } from '../commands/replace-storage-credentials.js';
import { makeSealCredentials } from '../commands/seal-credentials.js';
import { makeStorageOwnership } from '../commands/storage-ownership.js';
import { makeStoragePlaces } from '../commands/storage-places.js';
import { makeSwitchStorage } from '../commands/switch-storage.js';
import type { Config } from '../config.js';
import { makeAllowedAddresses } from '../domain/storage/allowed-addresses.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { makeStorageUrls } from '../integrations/object-storage/media-urls.js';
import { makeProbeStorage as makeProbe } from '../integrations/object-storage/probe.js';
import { makeAllowedAddress } from '../integrations/outgoing/allowed-address.js';
import { makeOutgoingHttp } from '../integrations/outgoing/outgoing-http.js';
import type { Sealer } from '../keys/sealer.js';
import type { Readers } from './readers.js';

/** Puts together what is done with storages. */
export function makeStorageCommands(deps: {
  readonly config: Pick<Config, 'storageAllowedCidrs'>;
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly readers: Pick<Readers, 'projects' | 'storages' | 'assets'>;
  readonly sealer: Sealer;
  readonly stateStore: StateStore;
}) {
  const { config, clock } = deps;
  const { projects, storages, assets } = deps.readers;
  const allowsHttp = makeAllowedAddresses(config.storageAllowedCidrs);
  const common = {
    ...deps,
    projects,
    storages,
    allowsHttp,
    ownership: makeStorageOwnership(deps),
    sealCredentials: makeSealCredentials(deps),
    openStorage: makeOpenStorage({ ...deps, makeUrls: makeStorageUrls }),
    destroyCredentials: makeDestroyCredentials(deps),
  };
  const http = makeOutgoingHttp({ isAllowed: makeAllowedAddress(config.storageAllowedCidrs) });
  return {
    createStorage: makeCreateStorage({ ...common, places: makeStoragePlaces({ ...deps, storages }) }),
    changeStorage: makeChangeStorage(common),
    replaceStorageCredentials: makeReplaceStorageCredentials(common),
    ...makeSwitchStorage(common),
    chooseDefaultStorage: makeChooseDefaultStorage(common),
    chooseFirstDefault: makeChooseFirstDefault(deps),
    deleteStorage: makeDeleteStorage({ ...common, hasAssets: (storageId) => assets.hasIn(storageId) }),
    deleteOrphanedStorages: makeDeleteOrphanedStorages(common),
    destroyCredentials: common.destroyCredentials,
    probeStorage: makeProbeStorage({
      ...common,
      probe: makeProbe({ http, now: () => clock.now(), makeId: randomUUID }),
    }),
  };
}
