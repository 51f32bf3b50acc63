import type { StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';
import { makeLru } from '../../../kit/lru.js';

/** Returns the id of the project that an event's stream belongs to; null for none. */
export type ProjectOf = ReturnType<typeof makeProjectOf>;

/** Streams whose project a process keeps in memory. */
const streamsMax = 20_000;

/**
 * Makes the function that finds projects of streams. A stream belongs to one project for ever, and its first event names
 * it.
 * @param deps.projectOfFirst reads the project from the first event of a stream
 * @returns the function. @throws StoreUnavailable
 */
export function makeProjectOf(deps: {
  readonly eventStore: Pick<EventStore, 'read'>;
  readonly projectOfFirst: (first: Pick<StoredEvent, 'stream' | 'data'>) => string | null;
}) {
  const { eventStore, projectOfFirst } = deps;
  const known = makeLru<{ readonly project: string | null }>(streamsMax);
  return async (event: Pick<StoredEvent, 'stream' | 'revision' | 'data' | 'type'>) => {
    const found = known.get(event.stream);
    if (found !== undefined) return found.project;
    const first = event.revision === 0n ? event : (await eventStore.read(event.stream, { limit: 1 }))[0];
    // A deposed leader may lack it for a moment, so this is not kept.
    if (first === undefined) return null;
    const project = projectOfFirst(first);
    known.set(event.stream, { project });
    return project;
  };
}
