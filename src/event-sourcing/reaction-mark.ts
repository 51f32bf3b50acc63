import type { Position, StoredEvent } from './domain-event.js';

/** An event that has been taken and may still be open. */
export interface Taken {
  readonly recordedAt: Date;
}

/** A place in the log: all up to its position has been passed, the last of our events there being this one. */
export interface Passed {
  readonly position: Position;
  readonly lastEvent: Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'recordedAt'>;
}

/**
 * How far a reaction is: the low-water mark stands before the first event that is still open, however many later ones
 * are settled.
 */
export interface LowWaterMark {
  /** All that is up to here is settled; null at the start of the log. */
  position(): Position | null;
  /** The last of our events up to the mark, where it was seen here; null where the mark stands as it was loaded. */
  lastEvent(): Passed['lastEvent'] | null;
  /** The log has been taken up to here. */
  taken(): Position | null;
  /** How many events have been taken after the mark, settled or not. */
  ahead(): number;
  /** How many of them are open. */
  open(): number;
  /** The event at the mark; null when nothing is open. */
  oldest(): Taken | null;
  /** Opens an event, the next in the log. */
  take(passed: Passed, event: Taken): void;
  /** Passes what is nothing to react to; a position alone passes streams that are not ours. */
  pass(passed: { readonly position: Position; readonly lastEvent?: Passed['lastEvent'] }): void;
  settle(event: Taken): void;
}

export function makeLowWaterMark(start: Position | null): LowWaterMark {
  const entries: { readonly before: Place; readonly event: Taken; settled: boolean }[] = [];
  let taken: Place = { position: start, lastEvent: null };
  let open = 0;
  return {
    position: () => mark().position,
    lastEvent: () => mark().lastEvent,
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

  function mark(): Place {
    return entries[0]?.before ?? taken;
  }
}

interface Place {
  readonly position: Position | null;
  readonly lastEvent: Passed['lastEvent'] | null;
}
