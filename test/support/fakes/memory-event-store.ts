import type { LogEvent, NewEvent, StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Clock, Random } from '../../../src/kit/time/clock.js';
import {
  EventTooLarge,
  StoreDamaged,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import {
  type Appended,
  type EventStore,
  type ExpectedRevision,
  logPageBytesMax,
  maxAppendBytes,
  maxEventBytes,
} from '../../../src/event-sourcing/ports/event-store.js';
import { eventBytes } from '../../../src/event-sourcing/feeding/read-log.js';
import { makeFeeder } from '../../../src/event-sourcing/feeding/feeder.js';

/**
 * An EventStore in memory, for simulations. It keeps the contract without durability. `appendForeign` makes events of
 * other streams.
 */
export interface MemoryEventStore extends EventStore {
  appendForeign(): void;
  /** Restores the log to its first entries, as a backup does. */
  restore(entries: number): void;
}

export function makeMemoryEventStore(deps: {
  readonly clock: Clock;
  readonly random: Random;
}): MemoryEventStore {
  const log: (LogEvent | null)[] = [];
  /** The sizes of the entries in bytes. */
  const sizes: number[] = [];
  const streams = new Map<string, LogEvent[]>();
  const logId = '00000000-0000-4000-8000-000000000001';

  const store: MemoryEventStore = {
    shortLogMs: 0,
    logId: () => Promise.resolve(logId),
    read: (stream, { from = 0n, limit = 500 } = {}) =>
      Promise.resolve(
        (streams.get(stream) ?? []).slice(Number(from), Number(from) + limit).map(withoutPosition),
      ),
    append: (stream, expected, events) => new Promise((resolve) => resolve(append(stream, expected, events))),
    readAll: ({ after, limit }) => {
      const start = after === null ? 0 : Number(after) + 1;
      if (start > log.length)
        return Promise.reject(new StoreDamaged(`the log ends before ${after}: it is an older one`));
      let [end, bytes] = [start, 0];
      for (; end < log.length && end - start < limit && bytes < logPageBytesMax; end += 1)
        bytes += sizes[end] ?? 0;
      return Promise.resolve({
        events: log.slice(start, end).filter((event) => event !== null),
        cursor: end === start ? after : positionAt(end - 1),
        atHead: end >= log.length,
        bytes,
      });
    },
    head: () => Promise.resolve(log.length === 0 ? null : positionAt(log.length - 1)),
    subscribe: (options) => feeder.subscribe(options),
    close: () => Promise.resolve(),
    appendForeign: () => {
      log.push(null);
      sizes.push(0);
      feeder.wake();
    },
    restore: (entries) => {
      log.length = entries;
      sizes.length = entries;
      // Later readers are other processes, which have no cached pages.
      feeder = openFeeder();
      streams.clear();
      for (const event of log) {
        if (event !== null) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
      }
    },
  };
  const openFeeder = () => makeFeeder({ readAll: (options) => store.readAll(options), ...deps });
  let feeder = openFeeder();
  return store;

  function append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Appended | null {
    if (events.length === 0) return null;
    checkSizes(events);
    const existing = streams.get(stream) ?? [];
    const from = expected === 'no-stream' ? 0 : Number(expected) + 1;
    if (from !== existing.length) {
      const before = existing.slice(from, from + events.length);
      const last = before.at(-1);
      const repeated =
        before.length === events.length && before.every((event, index) => event.id === events[index]?.id);
      if (last === undefined || !repeated) throw new WrongExpectedRevision(stream, expected);
      return { revision: last.revision, position: last.position };
    }
    for (const event of events) {
      const stored: LogEvent = {
        ...structuredClone(event),
        stream,
        revision: BigInt(existing.length),
        recordedAt: deps.clock.now(),
        position: positionAt(log.length),
      };
      existing.push(stored);
      log.push(stored);
      sizes.push(eventBytes(stored));
    }
    streams.set(stream, existing);
    feeder.wake();
    return { revision: BigInt(existing.length - 1), position: positionAt(log.length - 1) };
  }
}

function positionAt(index: number): string {
  return String(index).padStart(20, '0');
}

function withoutPosition({ position: _position, ...event }: LogEvent): StoredEvent {
  return event;
}

function checkSizes(events: readonly NewEvent[]): void {
  let total = 0;
  for (const event of events) {
    const bytes = eventBytes(event);
    if (bytes > maxEventBytes) throw new EventTooLarge(`an event of ${bytes} bytes`);
    total += bytes;
  }
  if (total > maxAppendBytes) throw new EventTooLarge(`an append of ${total} bytes`);
}
