import type { Position, StoredEvent } from '../ports/domain-event.js';
import { quarantinedItems } from '../feeding/quarantine.js';
import type { ReadModelStore } from '../ports/read-model-store.js';

/** An event that a reaction has quarantined. */
interface QuarantinedEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: string;
  readonly reason: string;
}

/**
 * Returns the events that reactions of any release have quarantined, by reaction. A reaction without such events is absent.
 * @throws StoreUnavailable
 */
export async function quarantinedEvents(
  readModelStore: Pick<ReadModelStore, 'scan'>,
): Promise<ReadonlyMap<string, readonly QuarantinedEvent[]>> {
  const events = new Map<string, QuarantinedEvent[]>();
  // The owner of a record is the checkpoint of its reaction, `reaction/<name>`.
  for (const { id: named, event, reason } of await quarantinedItems(readModelStore, 'reaction')) {
    const [reaction = '', id = ''] = named.split('/');
    const { stream = '', revision = '' } = event ?? {};
    events.set(reaction, [...(events.get(reaction) ?? []), { id, stream, revision, reason }]);
  }
  return events;
}

/** An event that the reaction has taken. */
interface Taken {
  readonly recordedAt: Date;
}

/** A position that the reaction has passed, and our last event up to it. */
interface Passed {
  readonly position: Position;
  readonly lastEvent: Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'recordedAt'>;
}

/** Makes the progress of a reaction. Its checkpoint stands before the first open event. */
export function makeTakenEvents(start: Position | null) {
  const entries: { readonly before: Before; readonly event: Taken; settled: boolean }[] = [];
  let taken: Before = { position: start, lastEvent: null };
  let open = 0;
  return {
    /** Returns the checkpoint: all events up to it are settled. Null at the start of the log. */
    position: () => first().position,
    /** Returns our last event up to the checkpoint; null while the checkpoint has not moved. */
    lastEvent: () => first().lastEvent,
    /** Returns the position up to which the reaction has read the log. */
    taken: () => taken.position,
    /** Returns the count of events taken after the checkpoint, open and settled. */
    ahead: () => entries.length,
    /** Returns the count of open events. */
    open: () => open,
    /** Returns the first open event; null when none is open. */
    oldest: () => entries[0]?.event ?? null,
    /** Opens an event, the next in the log. */
    take: (passed: Passed, event: Taken): void => {
      entries.push({ before: taken, event, settled: false });
      taken = passed;
      open += 1;
    },
    /** Passes an event without an outcome; a position alone passes foreign streams. */
    pass: ({ position, lastEvent = taken.lastEvent }: Pick<Passed, 'position'> & Partial<Before>): void => {
      taken = { position, lastEvent };
    },
    settle: (event: Taken): void => {
      const entry = entries.find((candidate) => candidate.event === event);
      if (entry?.settled !== false) return;
      entry.settled = true;
      open -= 1;
      while (entries[0]?.settled === true) entries.shift();
    },
  };

  function first(): Before {
    return entries[0]?.before ?? taken;
  }
}

interface Before {
  readonly position: Position | null;
  readonly lastEvent: Passed['lastEvent'] | null;
}
