import { type CountLimit, makeCountLimit } from '../../shared/count-limit.js';
import type { StorageDeps } from '../deps.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { storageAggregate, storagesMax } from '../domain/storage/storage.js';

/** Limits the storages of a project. `adding` throws CommandRejected storage_limit_reached. */
export function makeStorageLimit({
  handler,
  storages,
  viewLags,
}: Pick<StorageDeps, 'handler' | 'storages' | 'viewLags'>): CountLimit {
  return makeCountLimit({
    max: storagesMax,
    inView: (projectId, limit) => storages.ids(projectId, limit),
    counts: async (storageId) => {
      const { status } = (await handler.load(storageAggregate, storageId)).state;
      return status !== 'absent' && status !== 'deleted';
    },
    refuse: () => rejectStorage('storage_limit_reached', `a project has at most ${storagesMax} storages`),
    requireFresh: () => {
      viewLags.requireFresh('storage_configs');
    },
  });
}
