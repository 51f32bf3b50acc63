import type { LogEvent, Position } from '../ports/domain-event.js';
import type { LogPage } from '../ports/event-store.js';

/** The events that a live subscription has sent and no page holds yet. */
export interface LiveTail {
  isLive(): boolean;
  /** @param from the position after which the subscription sends every event, in order */
  readonly begin: (from: Position | null) => void;
  end(): void;
  /** Adds a record. Returns false if the subscription does not count any more: followers must read the log. */
  receive(record: { readonly position: Position; readonly event: LogEvent | null }): boolean;
  /**
   * Takes the events after the front as a page. It follows the front without a gap: the subscription began at or before
   * the front, and it sends every event. Null when there is none.
   */
  take(front: Position | null): LogPage | null;
}

/** More events than these within one pause for gathering are read from the log. */
const waitingMax = 500;

export function makeLiveTail(): LiveTail {
  /** The last position that the subscription has sent; null while no subscription counts. */
  let last: { readonly position: Position | null } | null = null;
  let events: LogEvent[] = [];

  return {
    isLive: () => last !== null,
    begin: (from) => {
      last = { position: from };
      events = [];
    },
    end: () => {
      last = null;
      events = [];
    },
    receive: ({ position, event }) => {
      if (last === null) return true;
      if (position === last.position) return true;
      // After a position that descends, nothing proves that no event is missing.
      if (last.position !== null && position < last.position) return false;
      if (events.length >= waitingMax) return false;
      last = { position };
      if (event !== null) events.push(event);
      return true;
    },
    take: (front) => {
      const after = events.filter(({ position }) => front === null || position > front);
      events = [];
      const cursor = after.at(-1)?.position;
      return cursor === undefined ? null : { events: after, cursor, atHead: true };
    },
  };
}
