import type { StorageDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { storageAggregate, storagesMax } from '../../domain/storage/storage.js';
import { type ProjectEvent, projectCategory, projectCodec } from '../../../projects/domain/project/events.js';
import { type StorageEvent, storageCategory, storageCodec } from '../../domain/storage/events.js';
import { type Position, streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';

type ProjectDeleted = Extract<ProjectEvent, { type: 'ProjectDeleted' }>;
type StorageCreated = Extract<StorageEvent, { type: 'StorageCreated' }>;

/** Deletes the storages of a deleted project. `erase-storage-credentials` then destroys their keys. */
export function makeDeleteProjectStorages({
  deleteOrphanedStorages,
  storagesShown,
}: {
  readonly deleteOrphanedStorages: Pick<DeleteOrphanedStorages, 'ofProject'>;
  /** Says whether the view of storages has reached the position. */
  readonly storagesShown: (position: Position) => boolean;
}): Reaction<ProjectDeleted> {
  return {
    name: 'delete-project-storages',
    category: projectCategory,
    codec: projectCodec,
    types: ['ProjectDeleted'],
    asks: ({ position }) => Promise.resolve(storagesShown(position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => deleteOrphanedStorages.ofProject(streamIdOf(event), context),
  };
}

/**
 * Deletes a storage whose StorageCreated comes after ProjectDeleted in the log: its command read the project before the
 * deletion.
 */
export function makeDeleteLateStorages({
  deleteOrphanedStorages,
}: {
  readonly deleteOrphanedStorages: Pick<DeleteOrphanedStorages, 'ifOrphaned'>;
}): Reaction<StorageCreated> {
  return {
    name: 'delete-late-storages',
    category: storageCategory,
    codec: storageCodec,
    types: ['StorageCreated'],
    // `ifOrphaned` itself reads whether the project is deleted.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const storage = { storageId: streamIdOf(event), projectId: event.data.project_id };
      return deleteOrphanedStorages.ifOrphaned(storage, context);
    },
  };
}

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
