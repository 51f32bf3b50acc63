import type { LogEvent, Position } from '../ports/domain-event.js';
import { logPageBytesMax, type LogPage } from '../ports/event-store.js';
import { eventBytes } from './event-bytes.js';

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
const waitingMax = { events: 500, bytes: logPageBytesMax };

export function makeLiveTail(): LiveTail {
  /** The last position that the subscription has sent; null while no subscription counts. */
  let last: { readonly position: Position | null } | null = null;
  let waiting: { readonly event: LogEvent; readonly bytes: number }[] = [];
  let waitingBytes = 0;

  return {
    isLive: () => last !== null,
    begin: (from) => {
      last = { position: from };
      empty();
    },
    end: () => {
      last = null;
      empty();
    },
    receive: ({ position, event }) => {
      if (last === null) return true;
      if (position === last.position) return true;
      // After a position that descends, nothing proves that no event is missing.
      if (last.position !== null && position < last.position) return false;
      if (waiting.length >= waitingMax.events || waitingBytes >= waitingMax.bytes) return false;
      last = { position };
      if (event === null) return true;
      const bytes = eventBytes(event);
      waiting.push({ event, bytes });
      waitingBytes += bytes;
      return true;
    },
    take: (front) => {
      const after = waiting.filter(({ event }) => front === null || event.position > front);
      empty();
      const cursor = after.at(-1)?.event.position;
      if (cursor === undefined) return null;
      const bytes = after.reduce((sum, taken) => sum + taken.bytes, 0);
      return { events: after.map(({ event }) => event), cursor, atHead: true, bytes };
    },
  };

  function empty(): void {
    waiting = [];
    waitingBytes = 0;
  }
}
