import { getEventListeners } from 'node:events';
import test from 'ava';
import type { LogEvent, Position } from '../../src/event-sourcing/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import type { LogPage } from '../../src/event-sourcing/event-store.js';
import { type LogFollower, makeLogFollower } from '../../src/event-sourcing/log-follower.js';
import { makeSeededRandom } from '../support/clock.js';
import { counterAggregate } from '../support/counter-aggregate.js';
import { recordEvents } from '../support/given-events.js';
import { makeVirtualClock, type VirtualClock } from './support/virtual-clock.js';

const pageSize = 10;

/** A log of counted events under a follower; what the log tells of its end is as poor as a store may be. */
interface Log {
  readonly clock: VirtualClock;
  readonly follower: LogFollower;
  /** After which position each read asked. */
  readonly reads: (Position | null)[];
  readonly retries: number[];
  grow(count: number): void;
  /** What the next reads do instead of answering. */
  fail(...errors: readonly Error[]): void;
  /** How long a read takes. */
  readMs: number;
}

const [example] = recordEvents(counterAggregate, 'c1', [{ type: 'CounterClosed', data: {} }]);

function eventAt(index: number): LogEvent {
  if (example === undefined) throw new Error('an event was recorded');
  return { ...example, revision: BigInt(index), position: positionAt(index) };
}

function positionAt(index: number): Position {
  return String(index).padStart(6, '0');
}

function givenLog({ gatherMs = 0 } = {}): Log {
  const clock = makeVirtualClock();
  let length = 0;
  let failures: readonly Error[] = [];
  const log: Log = {
    clock,
    reads: [],
    retries: [],
    grow: (count) => {
      length += count;
    },
    fail: (...errors) => {
      failures = errors;
    },
    readMs: 0,
    follower: makeLogFollower({
      readAll: async ({ after, limit }) => {
        log.reads.push(after);
        const [failure, ...rest] = failures;
        failures = rest;
        if (failure !== undefined) throw failure;
        const start = after === null ? 0 : Number(after) + 1;
        const end = Math.min(length, start + limit);
        const events = Array.from({ length: end - start }, (_, index) => eventAt(start + index));
        // The page is what the log was when the read began.
        if (log.readMs > 0) await clock.sleep(log.readMs);
        return { events, cursor: events.at(-1)?.position ?? after, atHead: events.length < limit };
      },
      clock,
      random: makeSeededRandom(1),
      onRetry: (_, attempt) => log.retries.push(attempt),
      pollMs: 1_000,
      gatherMs,
      pageSize,
    }),
  };
  return log;
}

interface Following {
  readonly pages: LogPage[];
  readonly seen: () => readonly number[];
  readonly stop: () => void;
  readonly ended: Promise<void>;
  readonly signal: AbortSignal;
}

/** Follows the log; `pageMs` is what it needs for a page. */
function follow(
  log: Log,
  { after = null, pageMs = 0 }: { after?: Position | null; pageMs?: number } = {},
): Following {
  const controller = new AbortController();
  const pages: LogPage[] = [];
  const run = async (): Promise<void> => {
    for await (const page of log.follower.subscribe({ after, signal: controller.signal })) {
      pages.push(page);
      if (pageMs > 0) await log.clock.sleep(pageMs);
    }
  };
  return {
    pages,
    seen: () => pages.flatMap((page) => page.events.map((event) => Number(event.position))),
    stop: () => {
      controller.abort();
    },
    ended: run(),
    signal: controller.signal,
  };
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

test('a follower gets everything in order, from catching up to live', async (t) => {
  const log = givenLog();
  log.grow(25);
  const { seen, stop, ended, pages } = follow(log);
  await log.clock.advance(0);
  t.deepEqual(seen(), upTo(25));
  log.grow(3);
  log.follower.wake();
  await log.clock.advance(0);
  t.deepEqual(seen(), upTo(28));
  t.deepEqual(
    pages.map(({ atHead }) => atHead),
    [false, false, true, true],
  );
  stop();
  await ended;
});

test('a follower goes on after the position it names', async (t) => {
  const log = givenLog();
  log.grow(25);
  const { seen, stop, ended } = follow(log, { after: positionAt(19) });
  await log.clock.advance(0);
  t.deepEqual(seen(), [20, 21, 22, 23, 24]);
  stop();
  await ended;
});

test('at the end of the log a follower is told so once, also where there is nothing', async (t) => {
  const log = givenLog();
  const empty = follow(log);
  await log.clock.advance(10_000);
  t.deepEqual(empty.pages, [{ events: [], cursor: null, atHead: true }]);
  empty.stop();
  await empty.ended;
});

test('a log that ends with a full page is known to end there', async (t) => {
  const log = givenLog();
  log.grow(pageSize);
  const { pages, stop, ended } = follow(log);
  await log.clock.advance(10_000);
  t.deepEqual(
    pages.map(({ events, atHead }) => [events.length, atHead]),
    [
      [pageSize, false],
      [0, true],
    ],
  );
  stop();
  await ended;
});

test('followers at one position share one read', async (t) => {
  const log = givenLog();
  log.grow(25);
  const followers = upTo(20).map(() => follow(log));
  await log.clock.advance(0);
  for (const { seen } of followers) t.deepEqual(seen(), upTo(25));
  t.deepEqual(log.reads.slice(0, 3), [null, positionAt(9), positionAt(19)]);
  t.is(log.reads.length, 4, 'three pages, and the look at the end');

  log.reads.length = 0;
  log.grow(1);
  log.follower.wake();
  await log.clock.advance(0);
  for (const { seen } of followers) t.is(seen().length, 26);
  t.is(log.reads.length, 2, 'the new page, and the look at the end');
  for (const { stop } of followers) stop();
  await Promise.all(followers.map(({ ended }) => ended));
});

test('a slow follower pages by itself and holds up nobody', async (t) => {
  const log = givenLog();
  log.grow(500);
  const slow = follow(log, { pageMs: 100 });
  const fast = follow(log);
  await log.clock.advance(0);
  t.deepEqual(fast.seen(), upTo(500));
  t.is(slow.pages.length, 1, 'the next page is read when it is asked for');
  const readsOfTheFast = log.reads.length;
  await log.clock.advance(6_000);
  t.deepEqual(slow.seen(), upTo(500));
  t.true(log.reads.length > readsOfTheFast + 40, 'pages of long ago are not kept');
  slow.stop();
  fast.stop();
  await Promise.all([slow.ended, fast.ended]);
});

test('without a wake-up the log is polled each second', async (t) => {
  const log = givenLog();
  const { seen, stop, ended } = follow(log);
  await log.clock.advance(100);
  log.grow(1);
  await log.clock.advance(800);
  t.deepEqual(seen(), []);
  await log.clock.advance(100);
  t.deepEqual(seen(), [0]);
  stop();
  await ended;
});

test('the first wake-up is followed at once, and those soon after it together', async (t) => {
  const log = givenLog({ gatherMs: 20 });
  const followers = [follow(log), follow(log, { pageMs: 3 })];
  await log.clock.advance(100);
  const growBy = async (count: number, ms: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      log.grow(1);
      log.follower.wake();
      await log.clock.advance(ms);
    }
  };
  log.reads.length = 0;
  await growBy(1, 0);
  for (const { seen } of followers) t.deepEqual(seen(), upTo(1));
  await growBy(7, 2);
  for (const { seen } of followers) t.deepEqual(seen(), upTo(1));
  await log.clock.advance(6);
  for (const { seen } of followers) t.deepEqual(seen(), upTo(8));
  t.deepEqual(log.reads.slice(0, 2), [null, positionAt(0)], 'two pages for both');
  for (const { stop } of followers) stop();
  await log.clock.run(Promise.all(followers.map(({ ended }) => ended)));
  t.is(log.clock.sleepers, 0);
});

test('catching up does not wait for wake-ups to gather', async (t) => {
  const log = givenLog({ gatherMs: 20 });
  log.grow(500);
  log.follower.wake();
  const { seen, stop, ended } = follow(log);
  await log.clock.advance(0);
  t.deepEqual(seen(), upTo(500));
  stop();
  await log.clock.run(ended);
});

test('a follower that is a few pages behind is served from what was read for those ahead', async (t) => {
  const log = givenLog();
  log.grow(55);
  const ahead = follow(log);
  const behind = follow(log, { pageMs: 5 });
  await log.clock.advance(100);
  t.deepEqual(ahead.seen(), upTo(55));
  t.deepEqual(behind.seen(), upTo(55));
  t.is(log.reads.length, 8, 'six pages, and for each a look at the end');
  ahead.stop();
  behind.stop();
  await Promise.all([ahead.ended, behind.ended]);
});

test('a wake-up during a read is not lost, also by those who join that read after it', async (t) => {
  const log = givenLog();
  const early = follow(log);
  // It deals with its first page until another read is under way.
  const late = follow(log, { pageMs: 1_020 });
  await log.clock.advance(0);
  log.readMs = 50;
  // At 1,000 ms the early one polls, and sees a log that is empty still.
  await log.clock.advance(1_010);
  log.grow(1);
  log.follower.wake();
  await log.clock.advance(95);
  t.deepEqual(early.seen(), [0]);
  t.deepEqual(late.seen(), [0]);
  early.stop();
  late.stop();
  await log.clock.run(Promise.all([early.ended, late.ended]));
});

test('a store that is away is tried again, with capped, jittered waits that begin anew after a success', async (t) => {
  const log = givenLog();
  log.grow(5);
  log.fail(...upTo(12).map(() => new StoreUnavailable('away')));
  const { seen, stop, ended } = follow(log);
  const startMs = log.clock.now().getTime();
  const waits: number[] = [];
  let beforeMs = startMs;
  for (let n = 1; n <= 12; n += 1) {
    await log.clock.until(() => log.reads.length > n);
    waits.push(log.clock.now().getTime() - beforeMs);
    beforeMs = log.clock.now().getTime();
  }
  t.deepEqual(seen(), upTo(5));
  waits.forEach((wait, attempt) => t.true(wait <= Math.min(10_000, 250 * 2 ** attempt)));
  t.true(Math.max(...waits) > 2_000);
  t.is(new Set(waits).size, 12);
  t.deepEqual(log.retries, upTo(12));

  log.fail(new StoreUnavailable('away again'));
  await log.clock.until(() => log.retries.length === 13);
  t.is(log.retries.at(-1), 0);
  stop();
  await log.clock.run(ended);
});

test('damage ends the subscription with its sentence', async (t) => {
  const log = givenLog();
  log.fail(new StoreDamaged('restore the log'));
  await t.throwsAsync(follow(log).ended, { instanceOf: StoreDamaged, message: 'restore the log' });
});

test('a subscription ends when it is aborted: while it waits, backs off, or before it begins', async (t) => {
  const waiting = givenLog();
  const atTheEnd = follow(waiting);
  await waiting.clock.advance(100);
  atTheEnd.stop();
  await atTheEnd.ended;
  t.is(waiting.clock.sleepers, 0);

  const away = givenLog();
  away.fail(new StoreUnavailable('away'));
  const backingOff = follow(away);
  await away.clock.advance(0);
  t.is(away.clock.sleepers, 1);
  backingOff.stop();
  await backingOff.ended;

  const unread = givenLog();
  const signal = AbortSignal.abort();
  for await (const page of unread.follower.subscribe({ after: null, signal })) t.fail(JSON.stringify(page));
  t.is(unread.reads.length, 0);
});

test('what is read while a subscription is aborted is not handed on', async (t) => {
  const log = givenLog();
  log.grow(5);
  log.readMs = 50;
  const { pages, stop, ended } = follow(log);
  await log.clock.advance(10);
  stop();
  await log.clock.run(ended);
  t.deepEqual(pages, []);
});

test('waiting for long leaves no listeners and no sleepers behind', async (t) => {
  const log = givenLog();
  const { signal, stop, ended } = follow(log);
  await log.clock.advance(60_000);
  for (let n = 0; n < 100; n += 1) {
    log.grow(1);
    log.follower.wake();
    await log.clock.advance(0);
  }
  t.is(getEventListeners(signal, 'abort').length, 1);
  t.is(log.clock.sleepers, 1);
  stop();
  await ended;
  t.is(getEventListeners(signal, 'abort').length, 0);
  t.is(log.clock.sleepers, 0);
});

for (const gatherMs of [0, 20])
  test(`nothing is lost or seen twice while appends, wake-ups and failures race with the reading, gathering ${gatherMs} ms`, async (t) => {
    const random = makeSeededRandom(7);
    const log = givenLog({ gatherMs });
    const followers = [0, 3, 40].map((pageMs) => follow(log, { pageMs }));
    let length = 0;
    for (let n = 0; n < 1_000; n += 1) {
      log.readMs = Math.floor(random() * 4) * 5;
      const count = Math.floor(random() * 6);
      log.grow(count);
      length += count;
      if (random() < 0.7) log.follower.wake();
      if (random() < 0.05) log.fail(new StoreUnavailable('away'));
      await log.clock.advance(Math.floor(random() * 12));
    }
    await log.clock.until(() => followers.every(({ seen }) => seen().length >= length));
    for (const { seen } of followers) t.deepEqual(seen(), upTo(length));
    for (const { stop } of followers) stop();
    await log.clock.run(Promise.all(followers.map(({ ended }) => ended)));
  });
