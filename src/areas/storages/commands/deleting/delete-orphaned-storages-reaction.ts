import type { DeleteOrphanedStorages } from './delete-orphaned-storages.js';
import { projectCodec, type ProjectEvent, projectCategory } from '../../../projects/domain/project/events.js';
import { storageCodec, type StorageEvent, storageCategory } from '../../domain/storage/events.js';
import type { Position } from '../../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

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
