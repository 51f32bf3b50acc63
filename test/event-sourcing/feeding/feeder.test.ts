import { getEventListeners } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import type { LogEvent, Position } from '../../../src/event-sourcing/ports/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { LogPage } from '../../../src/event-sourcing/ports/event-store.js';
import { type Feeder, makeFeeder } from '../../../src/event-sourcing/feeding/feeder.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { counterAggregate } from '../../support/kernel/counters.js';
import { recordEvents } from '../../support/given/given-events.js';
import { makeVirtualClock, type VirtualClock } from '../../support/kernel/virtual-clock.js';

const pageSize = 10;

/** A log of counted events under a feeder. The pages of the log say as little about its end as a store may. */
interface Log {
  readonly clock: VirtualClock;
  readonly feeder: Feeder;
  /** The position after which each read began. */
  readonly reads: (Position | null)[];
  readonly retries: number[];
  grow(count: number): void;
  /** Makes the next reads fail. */
  fail(...errors: readonly Error[]): void;
  /** The duration of a read. */
  readMs: number;
  readonly followers: { readonly stop: () => void; readonly ended: Promise<void> }[];
}

const [example] = recordEvents(counterAggregate, 'c1', [{ type: 'CounterClosed', data: {} }]);

function eventAt(index: number): LogEvent {
  if (example === undefined) throw new Error('no event was recorded');
  return { ...example, revision: BigInt(index), position: positionAt(index) };
}

function positionAt(index: number): Position {
  return String(index).padStart(6, '0');
}

/** @param t the end of the test ends all followers without an error; null where a follower ends with one */
function givenLog(t: ExecutionContext | null, { gatherMs = 0 } = {}): Log {
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
    followers: [],
    feeder: makeFeeder({
      readAll: async ({ after, limit }) => {
        log.reads.push(after);
        const [failure, ...rest] = failures;
        failures = rest;
        if (failure !== undefined) throw failure;
        const start = after === null ? 0 : Number(after) + 1;
        const end = Math.min(length, start + limit);
        const events = Array.from({ length: end - start }, (_, index) => eventAt(start + index));
        // The page contains the log at the start of the read.
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
  t?.teardown(async () => {
    for (const { stop } of log.followers) stop();
    await clock.run(Promise.all(log.followers.map(({ ended }) => ended)));
  });
  return log;
}

/** Follows the log, as a projector does: again after an error. The follower needs `pageMs` for a page. */
function follow(log: Log, { after = null, pageMs = 0 }: { after?: Position | null; pageMs?: number } = {}) {
  const controller = new AbortController();
  const pages: LogPage[] = [];
  const errors: string[] = [];
  const run = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      try {
        const from = pages.at(-1)?.cursor ?? after;
        for await (const page of log.feeder.subscribe({ after: from, signal: controller.signal })) {
          pages.push(page);
          if (pageMs > 0) await log.clock.sleep(pageMs);
        }
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        errors.push(error.message);
      }
    }
  };
  const follower = {
    pages,
    /** The errors that ended a subscription. */
    errors,
    seen: () => pages.flatMap((page) => page.events.map((event) => Number(event.position))),
    stop: () => controller.abort(),
    ended: run(),
    signal: controller.signal,
  };
  log.followers.push(follower);
  return follower;
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

test('A follower receives every event in order, from catching up to live', async (t) => {
  const log = givenLog(t);
  log.grow(25);
  const { seen, pages } = follow(log);
  await log.clock.advance(0);
  t.deepEqual(seen(), upTo(25));
  log.grow(3);
  log.feeder.wake();
  await log.clock.advance(0);
  t.deepEqual(seen(), upTo(28));
  t.deepEqual(
    pages.map(({ atHead }) => atHead),
    [false, false, true, true],
  );
});

test('A follower continues after the named position', async (t) => {
  const log = givenLog(t);
  log.grow(25);
  const { seen } = follow(log, { after: positionAt(19) });
  await log.clock.advance(0);
  t.deepEqual(seen(), [20, 21, 22, 23, 24]);
});

test('A follower receives the end of the log once, also for an empty log', async (t) => {
  const log = givenLog(t);
  const empty = follow(log);
  await log.clock.advance(10_000);
  t.deepEqual(empty.pages, [{ events: [], cursor: null, atHead: true }]);
});

test('A log that ends with a full page ends there for its followers', async (t) => {
  const log = givenLog(t);
  log.grow(pageSize);
  const { pages } = follow(log);
  await log.clock.advance(10_000);
  t.deepEqual(
    pages.map(({ events, atHead }) => [events.length, atHead]),
    [
      [pageSize, false],
      [0, true],
    ],
  );
});

test('Followers at one position share one read', async (t) => {
  const log = givenLog(t);
  log.grow(25);
  const followers = upTo(20).map(() => follow(log));
  await log.clock.advance(0);
  for (const { seen } of followers) t.deepEqual(seen(), upTo(25));
  t.deepEqual(log.reads.slice(0, 3), [null, positionAt(9), positionAt(19)]);
  t.is(log.reads.length, 3, 'the last page is the end');

  log.reads.length = 0;
  log.grow(1);
  log.feeder.wake();
  await log.clock.advance(0);
  for (const { seen } of followers) t.is(seen().length, 26);
  t.is(log.reads.length, 1);
});

test('A fast follower waits for a slow one, so that each page is read once', async (t) => {
  const log = givenLog(t);
  log.grow(4_000);
  const slow = follow(log, { pageMs: 2 });
  const fast = follow(log);
  await log.clock.until(() => slow.pages.at(-1)?.atHead === true);
  t.deepEqual(fast.seen(), upTo(4_000));
  t.is(log.reads.length, 401, '400 pages, and the empty one at the end');
});

test('A follower that takes no page delays the others for at most five seconds, and then pages by itself', async (t) => {
  const log = givenLog(t);
  log.grow(8_000);
  const hanging = follow(log, { pageMs: 60_000 });
  const fast = follow(log);
  await log.clock.advance(4_900);
  t.is(fast.seen().length, pageSize, 'the page that the other has taken');
  await log.clock.advance(200);
  t.deepEqual(fast.seen(), upTo(8_000));
  const readsOfTheFast = log.reads.length;
  await log.clock.advance(300_000);
  t.is(hanging.seen().length, 60);
  t.is(log.reads.length - readsOfTheFast, 305, '300 polls, and five pages that it reads alone');
});

test('A follower that is slow all the time makes the others at most half as slow again', async (t) => {
  const log = givenLog(t);
  log.grow(10_000);
  follow(log, { pageMs: 1_000 });
  const fast = follow(log, { pageMs: 1 });
  const began = log.clock.now().getTime();
  await log.clock.until(() => fast.pages.at(-1)?.atHead === true);
  const tookMs = log.clock.now().getTime() - began;
  t.true(tookMs <= 1_000 * 1.5 + 5_000, `${tookMs} ms in place of 1,000`);
});

test('A follower that ends while others wait for it lets them continue', async (t) => {
  const log = givenLog(t);
  log.grow(4_000);
  const hanging = follow(log, { pageMs: 1_000 });
  const fast = follow(log);
  await log.clock.advance(10);
  t.is(fast.seen().length, pageSize);
  hanging.stop();
  await log.clock.advance(1_000);
  t.deepEqual(fast.seen(), upTo(4_000));
});

test('Without a wake-up one poll each second serves all followers, which sleep through one that finds nothing', async (t) => {
  const log = givenLog(t);
  log.grow(3);
  const followers = [0, 1, 2].map((n) => follow(log, { after: positionAt(n), pageMs: 40 * n }));
  await log.clock.advance(300);
  followers.push(follow(log));
  await log.clock.advance(5_000);
  const [reads, pages] = [log.reads.length, followers.map((follower) => follower.pages.length)];
  await log.clock.advance(10_000);
  t.deepEqual([log.reads.length - reads, log.clock.sleepers], [10, 1]);
  log.grow(1);
  await log.clock.advance(1_000);
  for (const [n, follower] of followers.entries()) t.is(follower.pages.length, (pages[n] ?? 0) + 1);
});

test('The first wake-up leads to a read at once, and the next ones are gathered', async (t) => {
  const log = givenLog(t, { gatherMs: 20 });
  const followers = [follow(log), follow(log, { pageMs: 3 })];
  await log.clock.advance(100);
  const growBy = async (count: number, ms: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      log.grow(1);
      log.feeder.wake();
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
  t.deepEqual(log.reads, [null, positionAt(0)], 'two pages for both');
  for (const { stop } of followers) stop();
  await log.clock.run(Promise.all(followers.map(({ ended }) => ended)));
  t.is(log.clock.sleepers, 0);
});

test('Catching up does not wait for wake-ups', async (t) => {
  const log = givenLog(t, { gatherMs: 20 });
  log.grow(500);
  log.feeder.wake();
  const { seen } = follow(log);
  await log.clock.advance(0);
  t.deepEqual(seen(), upTo(500));
});

test('Followers at close positions share reads from the first page on, and each gets what follows its position', async (t) => {
  const log = givenLog(t);
  log.grow(55);
  log.readMs = 5;
  const starts = [-1, 3, 7, 12];
  const followers = starts.map((at) => follow(log, { after: at < 0 ? null : positionAt(at) }));
  await log.clock.advance(200);
  for (const [index, { seen }] of followers.entries()) {
    t.deepEqual(
      seen(),
      upTo(55).filter((n) => n > (starts[index] ?? 0)),
    );
  }
  // Alone they need six, six, five and five.
  t.true(log.reads.length <= 10, `${log.reads.length} reads`);
});

test('At the end of the log a full follower delays the others by 100 ms, and meets them again later', async (t) => {
  // Given a follower that needs 700 ms for a page, at the end of the log
  const log = givenLog(t);
  const full = follow(log, { pageMs: 700 });
  const fast = follow(log);
  await log.clock.advance(1_000);
  for (const [grown, ms, seen] of [
    [1, 0, 1],
    [1, 99, 1],
    [0, 2, 2],
  ] as const) {
    log.grow(grown);
    log.feeder.wake();
    await log.clock.advance(ms);
    t.is(fast.seen().length, seen);
  }
  // When it has taken its pages, then all wait for the next one together
  await log.clock.advance(3_000);
  t.deepEqual(full.seen(), upTo(2));
  log.reads.length = 0;
  log.grow(1);
  log.feeder.wake();
  await log.clock.advance(0);
  t.deepEqual([full.seen().length, fast.seen().length, log.reads.length], [3, 3, 1]);
});

test('A wake-up during a read is not lost, also for a follower that joins the read after it', async (t) => {
  const log = givenLog(t);
  const early = follow(log);
  // This follower handles its first page until another read is running.
  const late = follow(log, { pageMs: 1_020 });
  await log.clock.advance(0);
  log.readMs = 50;
  // At 1,000 ms the early follower polls and reads an empty log.
  await log.clock.advance(1_010);
  log.grow(1);
  log.feeder.wake();
  await log.clock.advance(95);
  t.deepEqual(early.seen(), [0]);
  t.deepEqual(late.seen(), [0]);
});

test('A store that is away is read again with jittered waits, and the fourth failure ends the subscription', async (t) => {
  const log = givenLog(t);
  log.grow(5);
  log.fail(...upTo(6).map(() => new StoreUnavailable('away')));
  const { seen, errors } = follow(log);
  const waits: number[] = [];
  let beforeMs = log.clock.now().getTime();
  for (let n = 1; n <= 4; n += 1) {
    await log.clock.until(() => log.reads.length > n);
    waits.push(log.clock.now().getTime() - beforeMs);
    beforeMs = log.clock.now().getTime();
  }
  waits.slice(0, 3).forEach((wait, attempt) => t.true(wait > 0 && wait <= 250 * 2 ** attempt));
  t.deepEqual(errors, ['away']);
  await log.clock.until(() => seen().length === 5);
  t.deepEqual(log.retries, [0, 1, 2, 0, 1], 'the next subscription counts from the start');

  log.fail(new StoreUnavailable('away again'));
  await log.clock.until(() => log.retries.length === 6);
  t.is(log.retries.at(-1), 0);
});

test('A damaged store ends the subscription with its error', async (t) => {
  const log = givenLog(null);
  log.fail(new StoreDamaged('restore the log'));
  await t.throwsAsync(follow(log).ended, { instanceOf: StoreDamaged, message: 'restore the log' });
});

test('A subscription ends when it is aborted: while it waits, during back-off, or before it begins', async (t) => {
  const waiting = givenLog(t);
  const atTheEnd = follow(waiting);
  await waiting.clock.advance(100);
  atTheEnd.stop();
  await atTheEnd.ended;
  t.is(waiting.clock.sleepers, 0);

  const away = givenLog(t);
  away.fail(new StoreUnavailable('away'));
  const backingOff = follow(away);
  await away.clock.advance(0);
  t.is(away.clock.sleepers, 1);
  backingOff.stop();
  await backingOff.ended;

  const unread = givenLog(t);
  const signal = AbortSignal.abort();
  for await (const page of unread.feeder.subscribe({ after: null, signal })) t.fail(JSON.stringify(page));
  t.is(unread.reads.length, 0);
});

test('A page that is read during an abort is not delivered', async (t) => {
  const log = givenLog(t);
  log.grow(5);
  log.readMs = 50;
  const { pages, stop, ended } = follow(log);
  await log.clock.advance(10);
  stop();
  await log.clock.run(ended);
  t.deepEqual(pages, []);
});

test('A long wait leaves no listeners and no timers', async (t) => {
  const log = givenLog(t);
  const { signal, stop, ended } = follow(log);
  await log.clock.advance(60_000);
  for (let n = 0; n < 100; n += 1) {
    log.grow(1);
    log.feeder.wake();
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
  test(`No event is lost or repeated while appends, wake-ups and failures race with the reads, gathered for ${gatherMs} ms`, async (t) => {
    const random = makeSeededRandom(7);
    const log = givenLog(t, { gatherMs });
    const followers = [0, 3, 40].map((pageMs) => follow(log, { pageMs }));
    let length = 0;
    for (let n = 0; n < 1_000; n += 1) {
      log.readMs = Math.floor(random() * 4) * 5;
      const count = Math.floor(random() * 6);
      log.grow(count);
      length += count;
      if (random() < 0.7) log.feeder.wake();
      if (random() < 0.05) log.fail(new StoreUnavailable('away'));
      await log.clock.advance(Math.floor(random() * 12));
    }
    await log.clock.until(() => followers.every(({ seen }) => seen().length >= length));
    for (const { seen } of followers) t.deepEqual(seen(), upTo(length));
  });

test('Followers take the events of a live subscription without a read, in the order and pages of their arrival', async (t) => {
  // Given followers at the end of a log
  const log = givenLog(t, { gatherMs: 20 });
  log.grow(3);
  const followers = [follow(log), follow(log, { pageMs: 3 })];
  await log.clock.advance(100);
  log.feeder.live(log.feeder.front());
  log.reads.length = 0;

  // When the subscription sends events, a record of the server among them
  const send = (index: number): boolean =>
    log.feeder.receive({ position: positionAt(index), event: index === 5 ? null : eventAt(index) });
  log.grow(5);
  for (const index of [3, 4, 5, 6, 7]) t.true(send(index));
  // An append of this process is among them.
  log.feeder.wake();
  await log.clock.advance(100);

  // Then the followers have them
  for (const { seen } of followers) t.deepEqual(seen(), [0, 1, 2, 3, 4, 6, 7]);
  t.deepEqual(log.reads, []);
});

test('Events that a read has passed are not taken again from the live subscription', async (t) => {
  const log = givenLog(t);
  log.grow(3);
  const following = follow(log);
  await log.clock.advance(0);
  const from = log.feeder.front();
  log.grow(4);
  await log.clock.advance(1_000);
  log.feeder.live(from);
  log.grow(1);
  for (const index of [2, 3, 4, 5, 6, 7])
    t.true(log.feeder.receive({ position: positionAt(index), event: eventAt(index) }));
  await log.clock.advance(0);
  t.deepEqual(following.seen(), upTo(8));
});

test('Without a live subscription its events do not count, and after its loss the log is read', async (t) => {
  const log = givenLog(t);
  log.grow(3);
  const following = follow(log);
  await log.clock.advance(0);
  log.feeder.live(log.feeder.front());
  log.feeder.lost();
  log.grow(2);
  // The event at 3 never arrived.
  t.true(log.feeder.receive({ position: positionAt(4), event: eventAt(4) }));
  await log.clock.advance(1_000);
  t.deepEqual(following.seen(), upTo(5));
});

test('A live subscription may send more events than wait, which are read, and one that goes back does not count', async (t) => {
  const log = givenLog(t, { gatherMs: 20 });
  log.grow(3);
  const following = follow(log);
  await log.clock.advance(100);
  log.feeder.live(log.feeder.front());
  log.grow(600);
  const send = (index: number): boolean =>
    log.feeder.receive({ position: positionAt(index), event: eventAt(index) });
  for (let index = 3; index < 603; index += 1) t.true(send(index));
  await log.clock.advance(100);
  t.deepEqual(following.seen(), upTo(603));
  // Then the events after those are taken without a read
  log.reads.length = 0;
  log.grow(1);
  t.true(send(603));
  await log.clock.advance(100);
  t.deepEqual([following.seen().length, log.reads.length], [604, 0]);
  t.false(send(7));
});
