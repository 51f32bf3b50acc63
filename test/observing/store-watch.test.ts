import test from 'ava';
import { makeAvailability } from '../../src/observing/stores/availability.js';
import { makeLogReads } from '../../src/observing/stores/store-metrics.js';
import { makeStoreWatch, type StoreReport } from '../../src/observing/stores/store-watch.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { makeVirtualClock } from '../support/kernel/virtual-clock.js';

/** A watched store whose pings answer unless it is down. `wall.stepMs` is a step of the wall clock. */
async function given() {
  const virtual = makeVirtualClock();
  const wall = { stepMs: 0 };
  const clock = {
    ...virtual,
    steadyMs: () => virtual.now().getTime(),
    now: () => new Date(virtual.now().getTime() + wall.stepMs),
  };
  const availability = makeAvailability(() => clock.steadyMs());
  const link = { name: 'MongoDB at a:1', availability };
  const reports: StoreReport[] = [];
  const state = { isDown: false, pings: 0 };
  const watch = makeStoreWatch({
    links: [link],
    clock,
    random: makeSeededRandom(1),
    onReport: (report) => reports.push(report),
  });
  const ping = (): Promise<void> => {
    state.pings += 1;
    if (!state.isDown) {
      availability.answered();
      return Promise.resolve();
    }
    const failure = new Error('ECONNREFUSED');
    availability.unanswered(failure);
    return Promise.reject(failure);
  };
  watch.opened(new Map([[link, ping]]));
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  await clock.advance(0);
  return {
    ...{ clock, wall, availability, watch, reports, state },
    kinds: () => reports.map(({ kind }) => kind),
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

test('The watch pings no store that a call has used in the last three seconds', async (t) => {
  const { clock, availability, state, end } = await given();
  t.is(state.pings, 1, 'the first look pings');
  for (let second = 0; second < 60; second += 2) {
    await clock.advance(2_000);
    availability.answered();
  }
  t.is(state.pings, 1);
  await clock.advance(60_000);
  t.true(state.pings >= 16 && state.pings <= 21, `${state.pings} pings of a quiet store in a minute`);
  await end();
});

test('The watch reports one line when a store goes away, one a minute, and one when it is back', async (t) => {
  // Given a store that goes away
  const { clock, availability, watch, reports, state, kinds, end } = await given();
  state.isDown = true;
  availability.unanswered(new Error('reset'));
  const since = clock.now().getTime();
  // When less than a second has passed, then this is no outage yet
  await clock.advance(999);
  t.deepEqual([watch.away(), kinds()], [[], []]);
  // When it stays away, then a minute has one line
  await clock.advance(501);
  t.deepEqual([watch.away(), kinds()], [['MongoDB at a:1'], ['away']]);
  t.is(reports[0]?.failure?.message, 'ECONNREFUSED');
  await clock.advance(121_000);
  t.deepEqual(kinds(), ['away', 'still-away', 'still-away']);
  // When it answers again, then a ping finds out within half a second, although no request comes
  state.isDown = false;
  const up = clock.now().getTime();
  await clock.until(() => availability.awaySinceMs() === null);
  t.true(clock.now().getTime() - up <= 500);
  t.deepEqual(watch.away(), []);
  await clock.advance(500);
  t.deepEqual(kinds(), ['away', 'still-away', 'still-away', 'back']);
  const last = reports.at(-1);
  t.true(Math.abs((last?.awayMs ?? 0) - (up - since)) <= 1_000, `${String(last?.awayMs)} ms`);
  await clock.advance(120_000);
  t.is(reports.length, 4);
  await end();
});

for (const hours of [1, -1]) {
  test(`A step of the wall clock by ${hours} h makes no outage and hides none`, async (t) => {
    const { clock, wall, availability, watch, state, kinds, end } = await given();
    // Given a call without an answer 0.1 s before the step
    availability.unanswered(new Error('reset'));
    await clock.advance(100);
    wall.stepMs = hours * 3_600_000;
    // Then the next answer shows that this was no outage
    await clock.advance(500);
    t.deepEqual([watch.away(), kinds()], [[], []]);
    // When the store then goes away without a call, then a ping finds out within 5 s
    state.isDown = true;
    await clock.advance(5_000);
    t.deepEqual([watch.away(), kinds()], [['MongoDB at a:1'], ['away']]);
    await end();
  });
}

test('A blip of less than a second is no line', async (t) => {
  const { clock, availability, reports, end } = await given();
  availability.unanswered(new Error('reset'));
  await clock.advance(60_000);
  t.deepEqual(reports, []);
  await end();
});

test('The watch pings a store at the next look after a suspicion, and a silent store once at a time', async (t) => {
  const { clock, availability, state, end } = await given();
  availability.answered();
  availability.suspect();
  await clock.advance(500);
  t.is(state.pings, 2);
  t.false(availability.isSuspect());
  await end();

  const watch = makeStoreWatch({
    links: [{ name: 'silent', availability: makeAvailability(() => clock.steadyMs()) }],
    ...{ clock, random: makeSeededRandom(1), onReport: () => undefined },
  });
  t.deepEqual(watch.away(), [], 'a store without a ping and a call is not away');
});

test('A ping that has no answer yet is not repeated', async (t) => {
  const clock = makeVirtualClock();
  const link = { name: 'frozen', availability: makeAvailability(() => clock.steadyMs()) };
  const watch = makeStoreWatch({
    links: [link],
    clock,
    random: makeSeededRandom(1),
    onReport: () => undefined,
  });
  let pings = 0;
  watch.opened(
    new Map([
      [
        link,
        () => {
          pings += 1;
          return new Promise(() => undefined);
        },
      ],
    ]),
  );
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  await clock.advance(10_000);
  t.is(pings, 1);
  stop.abort();
  await running;
});

test('Reads of the log fail since the first failure after the last success, unless the store is away', async (t) => {
  const clock = makeVirtualClock();
  const availability = makeAvailability(() => clock.steadyMs());
  const reads = makeLogReads({ clock, availability });
  t.is(reads.failingSinceMs(), null);
  reads.failed();
  const sinceMs = clock.now().getTime();
  await clock.advance(5_000);
  reads.failed();
  t.is(reads.failingSinceMs(), sinceMs);
  reads.succeeded();
  t.is(reads.failingSinceMs(), null);
  // An outage has its own lines, and the reads after it count from the return on.
  reads.failed();
  availability.unanswered();
  reads.failed();
  t.is(reads.failingSinceMs(), null);
  availability.answered();
  t.is(reads.failingSinceMs(), null);
  reads.failed();
  t.is(reads.failingSinceMs(), clock.now().getTime());
  // A process that no longer follows the log reads no more, so nothing takes the failure back.
  await clock.advance(29_000);
  reads.failed();
  await clock.advance(29_000);
  t.not(reads.failingSinceMs(), null);
  await clock.advance(1_000);
  t.is(reads.failingSinceMs(), null);
});
