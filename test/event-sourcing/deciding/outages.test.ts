import test from 'ava';
import { makeAvailability, makeWakefulSleep } from '../../../src/observing/stores/availability.js';
import { makeFeeder } from '../../../src/event-sourcing/feeding/feeder.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { givenReactions } from '../../support/kernel/reactions.js';
import { makeVirtualClock } from '../../support/kernel/virtual-clock.js';

test('An event that waits for its retry after an outage is served at once when the store answers again', async (t) => {
  // Given an effect that needs a store, which is away for so long that the waits have grown
  const scene = givenReactions();
  const store = makeAvailability(() => scene.clock.steadyMs());
  await scene.ask(1);
  const runner = scene.start({
    send: () =>
      store.awaySinceMs() === null ? Promise.resolve() : Promise.reject(new StoreUnavailable('away')),
    deps: { sleepUntilRetry: makeWakefulSleep(scene.clock, [store]) },
  });
  store.unanswered();
  await scene.clock.advance(600_000);
  t.deepEqual(await scene.marked(), []);
  // When the store answers again
  store.answered();
  await scene.clock.advance(0);
  // Then no wait has passed before the effect
  t.deepEqual(await scene.marked(), [1]);
  await scene.clock.run(runner.stop());
  t.is(scene.clock.sleepers, 0);
});

test('A reader of the log that waits for its retry after an outage reads at once when the store answers again', async (t) => {
  // Given a reader that waits after a failed read
  const clock = makeVirtualClock();
  const store = makeAvailability(() => clock.steadyMs());
  store.unanswered();
  let retries = 0;
  let reads = 0;
  const feeder = makeFeeder({
    readAll: () =>
      store.awaySinceMs() === null
        ? Promise.resolve({ events: [], cursor: null, atHead: true })
        : Promise.reject(new StoreUnavailable('away')),
    clock: { ...clock, sleep: makeWakefulSleep(clock, [store]) },
    random: makeSeededRandom(1),
    onRetry: () => (retries += 1),
    onRead: () => (reads += 1),
  });
  const end = new AbortController();
  const pages = feeder.subscribe({ after: null, signal: end.signal })[Symbol.asyncIterator]();
  const page = pages.next();
  await clock.advance(0);
  t.is(retries, 1);
  t.is(reads, 0);
  // When the store answers again, then no wait passes before the read
  store.answered();
  await clock.advance(0);
  t.is(reads, 1);
  t.like(await page, { value: { atHead: true } });
  end.abort();
  await pages.return(undefined);
});
