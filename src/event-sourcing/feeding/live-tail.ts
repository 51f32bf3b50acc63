import type { LogEvent, Position } from '../ports/domain-event.js';
import { logPageBytesMax, type LogPage } from '../ports/event-store.js';
import { eventBytes } from './read-log.js';

/** More events than these are dropped, and read from the log. */
const waitingMax = { events: 500, bytes: logPageBytesMax };

/** Keeps the events that a live subscription has sent and no page holds yet. */
export function makeLiveTail() {
  let isLive = false;
  /** The last position that the subscription has sent, also of a record without an event. */
  let last: Position | null = null;
  let lastEvent: Position | null = null;
  /** The position after which no event is missing in `waiting`. */
  let since: Position | null = null;
  let waiting: { readonly event: LogEvent; readonly bytes: number }[] = [];
  let waitingBytes = 0;

  return {
    isLive: () => isLive,
    /** @param from the position after which the subscription sends every event, in order */
    begin: (from: Position | null): void => {
      [isLive, last, lastEvent] = [true, from, null];
      empty(from);
    },
    end: (): void => {
      [isLive, lastEvent] = [false, null];
      empty(null);
    },
    /** Adds a record. Returns false if the subscription does not count any more: the log must be read. */
    receive: ({
      position,
      event,
    }: {
      readonly position: Position;
      readonly event: LogEvent | null;
    }): boolean => {
      if (!isLive || position === last) return true;
      // After a position that descends, nothing proves that no event is missing.
      if (last !== null && position < last) return false;
      last = position;
      if (event === null) return true;
      lastEvent = position;
      if (waiting.length >= waitingMax.events || waitingBytes >= waitingMax.bytes) {
        empty(position);
        return true;
      }
      const bytes = eventBytes(event);
      waiting.push({ event, bytes });
      waitingBytes += bytes;
      return true;
    },
    /** Returns whether the subscription has sent an event after the position. */
    isAfter: (at: Position | null): boolean => lastEvent !== null && (at === null || lastEvent > at),
    /** Takes the events after a position as a page. Null where there is none, or where some are missing: read the log. */
    take: (at: Position | null): LogPage | null => {
      if (!isLive || (since !== null && (at === null || at < since))) return null;
      const after = waiting.filter(({ event }) => at === null || event.position > at);
      const cursor = after.at(-1)?.event.position;
      empty(lastEvent ?? since);
      if (cursor === undefined) return null;
      const bytes = after.reduce((sum, taken) => sum + taken.bytes, 0);
      return { events: after.map(({ event }) => event), cursor, atHead: true, bytes };
    },
  };

  function empty(passed: Position | null): void {
    [waiting, waitingBytes, since] = [[], 0, passed];
  }
}
