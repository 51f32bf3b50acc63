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
export interface Passed {
  readonly position: Position;
  readonly lastEvent: Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'recordedAt'>;
}

/** The progress of a reaction. Its checkpoint stands before the first open event. */
interface TakenEvents {
  /** Returns the checkpoint: all events up to it are settled. Null at the start of the log. */
  position(): Position | null;
  /** Returns our last event up to the checkpoint; null while the checkpoint has not moved. */
  lastEvent(): Passed['lastEvent'] | null;
  /** Returns the position up to which the reaction has read the log. */
  taken(): Position | null;
  /** Returns the count of events taken after the checkpoint, open and settled. */
  ahead(): number;
  /** Returns the count of open events. */
  open(): number;
  /** Returns the first open event; null when none is open. */
  oldest(): Taken | null;
  /** Opens an event, the next in the log. */
  take(passed: Passed, event: Taken): void;
  /** Passes an event without an outcome; a position alone passes foreign streams. */
  pass(passed: { readonly position: Position; readonly lastEvent?: Passed['lastEvent'] }): void;
  settle(event: Taken): void;
}

export function makeTakenEvents(start: Position | null): TakenEvents {
  const entries: { readonly before: Before; readonly event: Taken; settled: boolean }[] = [];
  let taken: Before = { position: start, lastEvent: null };
  let open = 0;
  return {
    position: () => first().position,
    lastEvent: () => first().lastEvent,
    taken: () => taken.position,
    ahead: () => entries.length,
    open: () => open,
    oldest: () => entries[0]?.event ?? null,
    take: (passed, event) => {
      entries.push({ before: taken, event, settled: false });
      taken = passed;
      open += 1;
    },
    pass: ({ position, lastEvent = taken.lastEvent }) => {
      taken = { position, lastEvent };
    },
    settle: (event) => {
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
