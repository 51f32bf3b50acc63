import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';
import { storageAggregate, storagesMax } from '../domain/storage/storage.js';
import type { StorageReader } from '../../projections/storage-configs/reader.js';

/**
 * Deletes storages whose project has been deleted: nobody can reach them, and their credentials would be kept for ever
 * (DESIGN 3, Keys). One that stands before ProjectDeleted in the log is found by `ofProject`, one that comes after it by
 * `ifOrphaned`. Once more changes nothing.
 * @throws StoreUnavailable
 */
export interface DeleteOrphanedStorages {
  /** Those that the view shows of a project that has been deleted. */
  ofProject(projectId: string, context: CommandContext): Promise<void>;
  /** A storage that was created, where its project has been deleted. */
  ifOrphaned(storage: OwnedStorage, context: CommandContext): Promise<void>;
}

export interface OwnedStorage {
  readonly storageId: string;
  readonly projectId: string;
}

export function makeDeleteOrphanedStorages({
  handler,
  storages,
}: {
  readonly handler: CommandHandler;
  readonly storages: Pick<StorageReader, 'ids'>;
}): DeleteOrphanedStorages {
  return {
    ofProject: async (projectId, context) => {
      for (const storageId of await storages.ids(projectId, storagesMax)) await drop(storageId, context);
    },
    ifOrphaned: async ({ storageId, projectId }, context) => {
      const { state: project } = await handler.load(projectAggregate, projectId);
      if (project.status === 'deleted') await drop(storageId, context);
    },
  };

  async function drop(storageId: string, context: CommandContext): Promise<void> {
    await handler.handle({ aggregate: storageAggregate, id: storageId }, { type: 'Delete' }, context);
  }
}
