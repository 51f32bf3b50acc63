import type { DeleteOrphanedStorages } from '../commands/delete-orphaned-storages.js';
import { projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import { storageCodec, type StorageEvent } from '../domain/storage/events.js';
import { storageCategory } from '../domain/storage/stream.js';
import type { Position } from '../event-sourcing/domain-event.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type ProjectDeleted = Extract<ProjectEvent, { type: 'ProjectDeleted' }>;
type StorageCreated = Extract<StorageEvent, { type: 'StorageCreated' }>;

/** Deletes the storages that a project had when it was deleted, and with them the keys of their credentials. */
export function makeDeleteProjectStorages({
  deleteOrphanedStorages,
  storagesShown,
}: {
  readonly deleteOrphanedStorages: Pick<DeleteOrphanedStorages, 'ofProject'>;
  /** Whether the view of storages shows the log up to there. */
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
 * Deletes storages that were created while their project was being deleted. One that comes after that in the log was
 * decided before, and finds the project deleted here.
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
    // The use case reads for itself whether the project has been deleted.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const storage = { storageId: streamIdOf(event), projectId: event.data.project_id };
      return deleteOrphanedStorages.ifOrphaned(storage, context);
    },
  };
}
