import { setImmediate } from 'node:timers/promises';
import type { Position, StoredEvent } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';
import type { SteadyClock } from '../../kit/time/clock.js';

/** Returns the size of an event's data and metadata as JSON, in UTF-8 bytes. Binary values count as they are. */
export function eventBytes({
  data,
  metadata,
}: {
  readonly data?: unknown;
  readonly metadata?: unknown;
}): number {
  return bytesOf(data) + bytesOf(metadata);
}

function bytesOf(value: unknown): number {
  if (value === undefined) return 0;
  return value instanceof Uint8Array ? value.byteLength : Buffer.byteLength(JSON.stringify(value));
}

/** Distinguishes a log that is short for a moment from a log that an older one has replaced. */
export type ShortLog = ReturnType<typeof makeShortLog>;

/** @param waitMs `EventStore.shortLogMs` */
export function makeShortLog({ clock, waitMs }: { readonly clock: SteadyClock; readonly waitMs: number }) {
  let sinceMs: number | null = null;
  return {
    /** Call it when an event is missing. Returns whether events have been missing for `waitMs`. */
    isLasting: () => {
      const nowMs = clock.steadyMs();
      sinceMs ??= nowMs;
      return nowMs - sinceMs >= waitMs;
    },
    /** Call it when no event is missing: the wait starts again. */
    whole: () => {
      sinceMs = null;
    },
  };
}

const pageSize = 500;

/**
 * Reads a stream from a revision to its head, page by page. A user may write a hundred thousand events to a stream: gathered, they
 * would end the process, and folded in one turn they would hold up every request for seconds.
 */
export async function* readStream(
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  from = 0n,
): AsyncGenerator<readonly StoredEvent[]> {
  for (let next = from; ; next += BigInt(pageSize)) {
    const page = await eventStore.read(stream, { from: next, limit: pageSize });
    yield page;
    if (page.length < pageSize) return;
    // A read takes no turn of the event loop on embedded stores.
    await setImmediate();
  }
}

/** How many events follow a position. */
interface Following {
  /** At most the limit. */
  readonly count: number;
  /** Whether no more than these follow. */
  readonly isAll: boolean;
}

/**
 * Counts the events after a position, up to a limit. A page of the log also ends at its bytes, so a few large events need
 * several reads. @throws StoreUnavailable
 */
export async function countAfter(
  eventStore: Pick<EventStore, 'readAll'>,
  position: Position | null,
  limit: number,
): Promise<Following> {
  let [after, count] = [position, 0];
  for (;;) {
    const { events, cursor, atHead } = await eventStore.readAll({ after, limit: limit - count });
    count += events.length;
    if (atHead || count >= limit || cursor === after) return { count, isAll: atHead };
    after = cursor;
  }
}

/** Tells whether a log has an event of this service. It reads up to the first one. @throws StoreUnavailable, StoreDamaged */
export async function hasEvents({ readAll }: Pick<EventStore, 'readAll'>): Promise<boolean> {
  for (let after: Position | null = null; ;) {
    const { events, cursor, atHead } = await readAll({ after, limit: 1_000 });
    if (events.length > 0) return true;
    if (atHead) return false;
    after = cursor;
  }
}
