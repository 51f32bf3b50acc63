import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { type ExistingStorage, storageAggregate } from '../domain/storage/storage.js';

/** Finds a storage in its project, by the log: another project's is one that does not exist. */
export interface StorageOwnership {
  /** @throws CommandRejected storage_not_found */
  require(projectId: string, storageId: string): Promise<ExistingStorage>;
}

export function makeStorageOwnership({
  handler,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
}): StorageOwnership {
  return {
    require: async (projectId, storageId) => {
      const { state } = await handler.load(storageAggregate, storageId);
      const exists = state.status !== 'absent' && state.status !== 'deleted';
      if (exists && state.projectId === projectId) return state;
      return rejectStorage('storage_not_found', 'the storage does not exist');
    },
  };
}
