import { rejectStorage } from '../domain/storage/rejections.js';
import { storageAggregate, storagesMax } from '../domain/storage/storage.js';
import { makePlaces, type Places } from '../../shared/places.js';
import type { StorageDeps } from '../deps.js';

/** Limits the storages of a project (src/areas/projects/README.md#places). `take` throws CommandRejected storage_limit_reached. */
export function makeStoragePlaces({
  storages,
  ...deps
}: Pick<StorageDeps, 'stateStore' | 'clock' | 'handler' | 'storages'>): Places {
  return makePlaces({
    ...deps,
    name: 'places/storages',
    max: storagesMax,
    inView: (projectId, limit) => storages.ids(projectId, limit),
    inLog: async (storageId) => {
      const { state } = await deps.handler.load(storageAggregate, storageId);
      if (state.status === 'absent') return 'absent';
      return state.status === 'deleted' ? 'holds-none' : 'holds-a-place';
    },
    refuse: () => rejectStorage('storage_limit_reached', `a project has at most ${storagesMax} storages`),
  });
}
