import type { DeleteProjectStorages } from '../commands/delete-storage.js';
import { projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import type { Position } from '../event-sourcing/domain-event.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type ProjectDeleted = Extract<ProjectEvent, { type: 'ProjectDeleted' }>;

/** Deletes the storages of a deleted project, and with them the keys of their credentials. */
export function makeDeleteProjectStorages({
  deleteProjectStorages,
  storagesShown,
}: {
  readonly deleteProjectStorages: DeleteProjectStorages;
  /** Whether the view of storages shows the log up to there. */
  readonly storagesShown: (position: Position) => boolean;
}): Reaction<ProjectDeleted> {
  return {
    name: 'delete-project-storages',
    category: projectCategory,
    codec: projectCodec,
    types: ['ProjectDeleted'],
    asks: ({ position }) => Promise.resolve(storagesShown(position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => deleteProjectStorages(streamIdOf(event), context),
  };
}
