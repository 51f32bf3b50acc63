import test from 'ava';
import type { Moment } from '../../../../src/areas/audit/history/history.js';
import {
  type LogPart,
  logUntil,
  readLogToHead,
  ReplayProblem,
} from '../../../../src/areas/audit/tree/log-until.js';
import type { StoredEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { appendAuditEvents, makeAuditEvent, readWholeLog } from '../../../support/audit/audit-scene.js';
import { makeSeededRandom, makeTestClock } from '../../../support/fakes/clock.js';
import { makeMemoryEventStore } from '../../../support/fakes/memory-event-store.js';

async function givenLog(count: number) {
  const random = makeSeededRandom(count);
  const eventStore = makeMemoryEventStore({ clock: makeTestClock(), random });
  await appendAuditEvents(eventStore, random, count);
  return { eventStore, random, events: await readWholeLog(eventStore) };
}

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 2) + seconds * 1_000);

/** A log whose events were recorded at these seconds, in parts of two. */
async function* recordedAt(seconds: readonly number[], read: number[] = []): AsyncGenerator<LogPart> {
  const { events } = await givenLog(seconds.length);
  for (let first = 0; first < seconds.length; first += 2) {
    read.push(first);
    const part = events.slice(first, first + 2);
    yield {
      events: part.map((event, place): StoredEvent => ({
        ...event,
        recordedAt: at(seconds[first + place] ?? 0),
      })),
      share: (first + part.length) / seconds.length,
    };
  }
}

async function indexesOf(log: AsyncIterable<LogPart>, until: Moment | null): Promise<readonly number[]> {
  const indexes: number[] = [];
  for await (const { events } of logUntil(log, until)) indexes.push(...events.map(({ index }) => index));
  return indexes;
}

test('A log ends with the event at the index, and is not read beyond it', async (t) => {
  for (const [index, parts] of [
    [0, [0]],
    [1, [0]],
    [2, [0, 2]],
    [4, [0, 2, 4]],
  ] as const) {
    const read: number[] = [];
    const indexes = await indexesOf(recordedAt([1, 2, 3, 4, 5], read), { index });
    t.deepEqual(indexes, [0, 1, 2, 3, 4].slice(0, index + 1));
    t.deepEqual(read, [...parts]);
  }
  t.deepEqual(await indexesOf(recordedAt([1, 2, 3]), null), [0, 1, 2]);
});

test('A time ends a log before the first later event, also where a clock was set back', async (t) => {
  const times = [5, 5, 8, 2, 9, 3];
  for (const [seconds, count] of [
    [5, 2],
    [7, 2],
    [8, 4],
    [9, 6],
    [60, 6],
  ] as const) {
    t.is((await indexesOf(recordedAt(times), { time: at(seconds) })).length, count, `${seconds} s`);
  }
});

test('A moment that the log does not have is refused with the end of the log', async (t) => {
  const refuses = (log: AsyncIterable<LogPart>, until: Moment, message: string) =>
    t.throwsAsync(indexesOf(log, until), { instanceOf: ReplayProblem, message });
  await refuses(
    recordedAt([1, 2, 3]),
    { index: 3 },
    'the log has 3 events, so the last index is 2; index 3 is beyond it',
  );
  await refuses(recordedAt([]), { index: 0 }, 'the log has no event');
  await refuses(recordedAt([5, 6]), { time: at(4) }, 'no event was recorded until 2026-01-02T00:00:04.000Z');
});

test('A log is read to the head that it had at the start, without the events of other programs', async (t) => {
  const { eventStore, random, events } = await givenLog(1_203);
  eventStore.appendForeign();
  const found: StoredEvent[] = [];
  const shares: number[] = [];
  for await (const part of readLogToHead(eventStore)) {
    // Each part is followed by an event that does not count.
    await eventStore.append(`late-${shares.length}`, 'no-stream', [makeAuditEvent(random, shares.length)]);
    found.push(...part.events);
    shares.push(part.share);
  }
  t.deepEqual(found, events);
  t.is(shares.at(-1), 1);
  t.deepEqual(
    shares,
    shares.toSorted((one, other) => one - other),
  );
});
