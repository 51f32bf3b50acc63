import test from 'ava';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { makeSharedLimit } from '../../src/event-sourcing/shared-limit.js';
import { makeTestClock } from '../support/clock.js';

function given() {
  const clock = makeTestClock();
  /** What ends each timer that was begun, and whether it was given up. */
  const timers: {
    readonly ms: number;
    readonly ring: () => void;
    readonly signal: AbortSignal | undefined;
  }[] = [];
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      timers.push({ ms, ring: resolve, signal });
      signal?.addEventListener('abort', () => {
        reject(new Error('aborted'));
      });
    });
  const within = makeSharedLimit({ clock: { ...clock, sleep }, limitMs: 2_000, problem: 'too long' });
  return { clock, timers, within };
}

test('work that ends in time is waited for, and ends the timer', async (t) => {
  const { timers, within } = given();
  t.is(await within(Promise.resolve(7)), 7);
  await t.throwsAsync(within(Promise.reject(new Error('its own'))), { message: 'its own' });
  t.deepEqual(
    timers.map(({ ms, signal }) => [ms, signal?.aborted]),
    [
      [2_000, true],
      [2_000, true],
    ],
  );
});

test('what begins within 100 ms shares a timer, which cuts off all of it; what begins later has its own', async (t) => {
  // Given two that hang under one timer, and a third under another
  const { clock, timers, within } = given();
  const hanging = new Promise<never>(() => undefined);
  const first = within(hanging);
  clock.advance(100);
  const second = within(hanging);
  clock.advance(1);
  let ended = false;
  const third = within(hanging).finally(() => {
    ended = true;
  });
  t.is(timers.length, 2);

  // When the first timer rings
  timers[0]?.ring();

  // Then only its two are cut off
  await t.throwsAsync(first, { instanceOf: StoreUnavailable, message: 'too long' });
  await t.throwsAsync(second, { instanceOf: StoreUnavailable, message: 'too long' });
  t.false(ended);
  timers[1]?.ring();
  await t.throwsAsync(third, { instanceOf: StoreUnavailable });
});

test('one of several that ends leaves the timer to the others', async (t) => {
  const { timers, within } = given();
  const hanging = within(new Promise<never>(() => undefined));
  t.is(await within(Promise.resolve('done')), 'done');
  t.false(timers[0]?.signal?.aborted);
  timers[0]?.ring();
  await t.throwsAsync(hanging, { instanceOf: StoreUnavailable });
});
