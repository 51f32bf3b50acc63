import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type {
  JsonObject,
  LogEvent,
  NewEvent,
  Position,
} from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore, LogPage } from '../../src/event-sourcing/ports/event-store.js';

/** An event store and the operations that the contract needs. */
export interface EventStoreHarness {
  readonly store: EventStore;
  /** Closes the store and opens the same log again. A store that lives only in memory returns itself. */
  reopen(): Promise<EventStore>;
  /** Writes one event into a stream without the store's prefix, whose name begins with `foreign-`. */
  appendForeign(): Promise<void>;
  close(): Promise<void>;
  /** The size at which the store ends a page, in bytes; default: that of the port. Large events take long. */
  readonly pageBytes?: number;
  /** Whether the store writes further events in the transaction of an append. */
  readonly writesFurther?: boolean;
}

/** The store that the tests of a contract share, and stores for one test, which closes them. */
export interface StoresUnderTest {
  readonly harness: () => EventStoreHarness;
  readonly givenOwn: (t: ExecutionContext) => Promise<EventStoreHarness>;
}

/** Makes an event with fixed metadata, so that a test gives only the fields that it checks. */
export function makeEvent(overrides: { readonly id?: string; readonly data?: JsonObject } = {}): NewEvent {
  return {
    id: overrides.id ?? randomUUID(),
    type: 'ThingHappened@1',
    data: overrides.data ?? { what: 'happened' },
    metadata: {
      command_id: '00000000-0000-4000-8000-00000000000c',
      causation_id: '00000000-0000-4000-8000-00000000000a',
      correlation_id: '00000000-0000-4000-8000-00000000000b',
      actor: 'system:test',
      time: '2026-01-02T03:04:05.000Z',
    },
  };
}

export function makeEvents(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => makeEvent({ data: { index } }));
}

/** Returns the name of a stream that no other test uses, so that tests can share one log, even on a server in use. */
export function uniqueStream(category = 'thing'): string {
  return `${category}-${randomUUID()}`;
}

/** Reads the log page by page from after a position to its end. */
export async function readLog(store: EventStore, after: Position | null, limit = 500): Promise<LogPage[]> {
  const pages: LogPage[] = [];
  let cursor = after;
  for (;;) {
    const page = await store.readAll({ after: cursor, limit });
    pages.push(page);
    cursor = page.cursor;
    if (page.atHead) return pages;
  }
}

/** Returns the events of the streams in some pages of the log. */
export function eventsOf(pages: readonly LogPage[], ...streams: readonly string[]): LogEvent[] {
  return pages.flatMap((page) => page.events).filter((event) => streams.includes(event.stream));
}

/** Follows the log until it has seen `count` events of the streams, then ends the subscription. */
export async function follow(
  store: EventStore,
  after: Position | null,
  { streams, count }: { readonly streams: readonly string[]; readonly count: number },
): Promise<LogEvent[]> {
  const controller = new AbortController();
  const found: LogEvent[] = [];
  for await (const page of store.subscribe({ after, signal: controller.signal })) {
    found.push(...eventsOf([page], ...streams));
    if (found.length >= count) controller.abort();
  }
  return found;
}
