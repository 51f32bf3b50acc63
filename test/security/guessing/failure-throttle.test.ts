import test from 'ava';
import fc from 'fast-check';
import {
  type FailureState,
  countFailure,
  forgottenAtMs,
  judgeTry,
  withdrawFailure,
} from '../../../src/security/guessing/failure-throttle.js';
import { guessing } from '../../../src/security/guessing/guessing.js';

const signInThrottle = guessing.password.failures.limits;
const minute = 60_000;

/** Returns a client that fails as often as the throttle allows. */
function givenFailing(state: FailureState | null = null) {
  let nowMs = Date.parse('2026-01-02T03:04:05.678Z');
  return {
    waitFor: (ms: number) => {
      nowMs += ms;
    },
    /** Fails once. Returns null, or the seconds to wait. */
    fail: (): number | null => {
      const verdict = judgeTry(signInThrottle, state, nowMs);
      if (!verdict.allowed) return verdict.retryAfterSeconds;
      state = countFailure(signInThrottle, state, nowMs);
      return null;
    },
    state: () => state,
  };
}

test('Five failures are free, and then each wait is twice the last one, up to 15 minutes', (t) => {
  const client = givenFailing();
  for (let index = 0; index < 5; index += 1) t.is(client.fail(), null);
  const waits: (number | null)[] = [];
  for (let index = 0; index < 13; index += 1) {
    const wait = client.fail();
    waits.push(wait);
    client.waitFor((wait ?? 0) * 1_000 - 1);
    t.is(client.fail(), 1, 'the attempt is a millisecond too early');
    client.waitFor(1);
    t.is(client.fail(), null);
  }
  t.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
});

test('A throttled attempt does not count, so the right password works after the wait', (t) => {
  const client = givenFailing();
  for (let index = 0; index < 8; index += 1) {
    while (client.fail() !== null) client.waitFor(1_000);
  }
  const before = client.state();
  for (let index = 0; index < 100; index += 1) t.is(client.fail(), 8);
  t.is(client.state(), before);
});

test('The count drops by one failure for every 15 minutes after the wait, down to none', (t) => {
  const state = { failures: 6, lastAtMs: 0 };
  const failuresAfter = (ms: number) => countFailure(signInThrottle, state, ms).failures;
  t.is(failuresAfter(2_000), 7);
  t.is(failuresAfter(2_000 + 15 * minute - 1), 7);
  t.is(failuresAfter(2_000 + 15 * minute), 6);
  t.is(failuresAfter(2_000 + 75 * minute), 2);
  t.is(failuresAfter(forgottenAtMs(signInThrottle, state) - 1), 2);
  t.is(failuresAfter(forgottenAtMs(signInThrottle, state)), 1, 'as for a new client');
  t.is(forgottenAtMs(signInThrottle, state), 2_000 + 90 * minute);
});

test('A withdrawn failure does not count, and the last one leaves no record', (t) => {
  t.deepEqual(withdrawFailure({ failures: 3, lastAtMs: 7 }), { failures: 2, lastAtMs: 7 });
  t.is(withdrawFailure({ failures: 1, lastAtMs: 7 }), null);
});

test('A clock that goes back lengthens no wait', (t) => {
  const state = { failures: 9, lastAtMs: 1_000 * minute };
  t.deepEqual(judgeTry(signInThrottle, state, 990 * minute), { allowed: false, retryAfterSeconds: 16 });
  t.is(countFailure(signInThrottle, state, 990 * minute).failures, 10);
});

test('A clock that is set back by more than the longest wait refuses no client for the length of the step', (t) => {
  const client = givenFailing();
  client.waitFor(2 * 86_400_000);
  for (let index = 0; index < 20; index += 1) client.waitFor((client.fail() ?? 0) * 1_000);
  client.waitFor(-2 * 86_400_000);
  t.is(client.fail(), null);
  const wait = client.fail() ?? 0;
  t.true(wait > 0 && wait <= 900, `the next failure waits ${wait} s`);
});

test('A client gets at most 16 failures in any stretch of time, and one more for every 15 minutes of it', (t) => {
  const pause = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 2_000 }),
    fc.integer({ min: 0, max: 20 * minute }),
    // These pauses end just when a failure is dropped or a wait ends.
    fc.integer({ min: 0, max: 10 }).map((n) => 1_000 * 2 ** n),
    fc.constant(15 * minute),
  );
  fc.assert(
    fc.property(fc.array(pause, { maxLength: 200 }), (pauses) => {
      const client = givenFailing();
      const passed: number[] = [];
      let nowMs = 0;
      for (const ms of pauses) {
        client.waitFor(ms);
        nowMs += ms;
        if (client.fail() === null) passed.push(nowMs);
      }
      return passed.every((from, first) =>
        passed.slice(first).every((to, later) => later + 1 <= 15 + 1 + (to - from) / (15 * minute)),
      );
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('A client that fails as often as allowed gets 111 guesses on the first day and 96 on each later day', (t) => {
  const client = givenFailing();
  const day = 24 * 60 * minute;
  let spentMs = 0;
  const guesses = [0, 0, 0];
  while (spentMs < 3 * day) {
    const wait = client.fail();
    const today = Math.floor(spentMs / day);
    if (wait === null) guesses[today] = (guesses[today] ?? 0) + 1;
    client.waitFor((wait ?? 0) * 1_000);
    spentMs += (wait ?? 0) * 1_000;
  }
  t.true((guesses[0] ?? 0) <= 111, String(guesses));
  t.deepEqual(guesses.slice(1), [96, 96]);
});
