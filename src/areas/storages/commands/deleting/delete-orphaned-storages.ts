import type { StorageDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { storageAggregate, storagesMax } from '../../domain/storage/storage.js';

/**
 * Deletes the storages of deleted projects: no client can reach them, and their credentials would stay for ever
 * (src/areas/storages/README.md#deleted-projects). A repetition changes nothing.
 * @throws StoreUnavailable
 */
export interface DeleteOrphanedStorages {
  /** Deletes the storages that the view shows of a deleted project: those before ProjectDeleted in the log. */
  ofProject(projectId: string, context: CommandContext): Promise<void>;
  /** Deletes a storage if its project is deleted: one that comes after ProjectDeleted in the log. */
  ifOrphaned(storage: OwnedStorage, context: CommandContext): Promise<void>;
}

export interface OwnedStorage {
  readonly storageId: string;
  readonly projectId: string;
}

export function makeDeleteOrphanedStorages({
  handler,
  storages,
}: Pick<StorageDeps, 'handler' | 'storages'>): DeleteOrphanedStorages {
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
    const target = { aggregate: storageAggregate, id: storageId };
    await handler.handle(target, { type: 'DeleteOrphaned' }, context);
  }
}
