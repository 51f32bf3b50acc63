import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { storageAggregate, storagesMax } from '../domain/storage/storage.js';
import type { StorageReader } from '../../projections/storage-configs/reader.js';
import { makePlaces, type Places } from './places.js';

/**
 * The places for storages in a project (DESIGN 4.2).
 * `take` throws CommandRejected storage_limit_reached.
 */
export function makeStoragePlaces({
  handler,
  stateStore,
  storages,
  clock,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly stateStore: StateStore;
  readonly storages: Pick<StorageReader, 'ids'>;
  readonly clock: Clock;
}): Places {
  return makePlaces({
    stateStore,
    clock,
    name: 'places/storages',
    max: storagesMax,
    shown: (projectId, limit) => storages.ids(projectId, limit),
    look: async (storageId) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent') return 'absent';
      return state.status === 'deleted' ? 'holds-none' : 'holds-a-place';
    },
    refuse: () => rejectStorage('storage_limit_reached', `a project has at most ${storagesMax} storages`),
  });
}
