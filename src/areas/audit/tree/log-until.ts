import type { StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';
import type { IndexedEvent, Moment } from '../history/history.js';

/** A log cannot be replayed as asked. The message is a sentence for the operator. */
export class ReplayProblem extends Error {
  override readonly name = 'ReplayProblem';
}

/** The next events of a log, in log order. */
export interface LogPart {
  readonly events: readonly StoredEvent[];
  /** How much of the log has been read, from 0 to 1. */
  readonly share: number;
}

/** The next events of a log, each with the index of its leaf. */
interface IndexedPart {
  readonly events: readonly IndexedEvent<StoredEvent>[];
  readonly share: number;
}

const pageSize = 500;

/**
 * Reads a log from its first event to the head that it has now. Events that are appended meanwhile do not count.
 * @throws StoreUnavailable, StoreDamaged
 */
export async function* readLogToHead(
  eventStore: Pick<EventStore, 'head' | 'readAll'>,
): AsyncGenerator<LogPart> {
  const head = await eventStore.head();
  let after: string | null = null;
  for (let atHead = head === null; !atHead && head !== null;) {
    const page: Awaited<ReturnType<EventStore['readAll']>> = await eventStore.readAll({
      after,
      limit: pageSize,
    });
    const events = page.events.filter(({ position }) => position <= head);
    after = page.cursor;
    atHead = page.atHead || (after !== null && after >= head);
    yield { events, share: atHead ? 1 : shareOf(after, head) };
  }
}

/** Positions begin with a number that grows with the log: a count of embedded stores, or bytes of EventStoreDB. */
function shareOf(position: string | null, head: string): number {
  const [done, all] = [Number(position?.slice(0, 20) ?? 0), Number(head.slice(0, 20))];
  return all > 0 && done <= all ? done / all : 0;
}

/**
 * Cuts a log off: the event at an index is the last one, or the last event before the first one with a later
 * `recorded_at` (src/areas/audit/README.md#events-behind-the-leaves). It reads no further than it must.
 * @param until null for the whole log
 * @throws ReplayProblem when the log ends before the index, or no event was recorded until the time
 */
export async function* logUntil(
  log: AsyncIterable<LogPart>,
  until: Moment | null,
): AsyncGenerator<IndexedPart> {
  let count = 0;
  for await (const { events, share } of log) {
    const indexed = events.map((event, offset) => ({ index: count + offset, event }));
    const end = indexed.findIndex(({ index, event }) => isBeyond(index, event, until));
    const counting = end < 0 ? indexed : indexed.slice(0, end);
    count += counting.length;
    if (counting.length > 0) yield { events: counting, share };
    if (end >= 0 || isLast(count - 1, until)) break;
  }
  refuseShortLog(count, until);
}

function isBeyond(index: number, { recordedAt }: StoredEvent, until: Moment | null): boolean {
  if (until === null) return false;
  return 'index' in until ? index > until.index : recordedAt > until.time;
}

function isLast(index: number, until: Moment | null): boolean {
  return until !== null && 'index' in until && index === until.index;
}

/** @param count the events that count */
function refuseShortLog(count: number, until: Moment | null): void {
  if (until === null) return;
  if ('time' in until) {
    if (count > 0) return;
    throw new ReplayProblem(`no event was recorded until ${until.time.toISOString()}`);
  }
  if (count > until.index) return;
  throw new ReplayProblem(
    count === 0
      ? 'the log has no event'
      : `the log has ${count} events, so the last index is ${count - 1}; index ${until.index} is beyond it`,
  );
}
