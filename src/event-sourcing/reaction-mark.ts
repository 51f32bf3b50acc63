import type { Position } from './domain-event.js';

/** An event that has been taken and may still be open. */
export interface Taken {
  readonly recordedAt: Date;
}

/**
 * How far a reaction is: the low-water mark stands before the first event that is still open, however many later ones
 * are settled.
 */
export interface LowWaterMark {
  /** All that is up to here is settled; null at the start of the log. */
  position(): Position | null;
  /** The log has been taken up to here. */
  taken(): Position | null;
  /** How many events have been taken after the mark, settled or not. */
  ahead(): number;
  /** How many of them are open. */
  open(): number;
  /** The event at the mark; null when nothing is open. */
  oldest(): Taken | null;
  /** Opens an event, the next in the log. */
  take(position: Position, event: Taken): void;
  /** Passes what is nothing to react to. */
  pass(position: Position): void;
  settle(event: Taken): void;
}

export function makeLowWaterMark(start: Position | null): LowWaterMark {
  const entries: { readonly before: Position | null; readonly event: Taken; settled: boolean }[] = [];
  let taken = start;
  let open = 0;
  return {
    position: () => {
      const [first] = entries;
      return first === undefined ? taken : first.before;
    },
    taken: () => taken,
    ahead: () => entries.length,
    open: () => open,
    oldest: () => entries[0]?.event ?? null,
    take: (position, event) => {
      entries.push({ before: taken, event, settled: false });
      taken = position;
      open += 1;
    },
    pass: (position) => {
      taken = position;
    },
    settle: (event) => {
      const entry = entries.find((candidate) => candidate.event === event);
      if (entry?.settled !== false) return;
      entry.settled = true;
      open -= 1;
      while (entries[0]?.settled === true) entries.shift();
    },
  };
}
