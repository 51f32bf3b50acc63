import test from 'ava';
import { makeAvailability, makeWakefulSleep } from '../../src/observing/stores/availability.js';
import { makeVirtualClock } from '../support/kernel/virtual-clock.js';

test('A store is away from its first call without an answer until a call is answered', async (t) => {
  // Given a store that has answered
  const clock = makeVirtualClock();
  const store = makeAvailability(() => clock.steadyMs());
  t.deepEqual([store.awaySinceMs(), store.lastAnswerMs()], [null, null]);
  store.answered();
  const answeredMs = clock.steadyMs();
  // When calls have no answer
  await clock.advance(1_000);
  const sinceMs = clock.steadyMs();
  store.unanswered(new Error('one'));
  await clock.advance(1_000);
  store.unanswered(new Error('two'));
  // Then it is away since the first of them, for the reason of the last
  t.deepEqual([store.awaySinceMs(), store.failure()?.message], [sinceMs, 'two']);
  t.deepEqual(store.lastAnswerMs(), answeredMs);
  // and an answer brings it back
  store.answered();
  t.deepEqual([store.awaySinceMs(), store.failure(), store.lastAnswerMs()], [null, null, clock.steadyMs()]);
});

test('A call that began before the last answer does not show that the store is away', (t) => {
  const store = makeAvailability(() => 0);
  const before = store.answers();
  store.answered();
  store.unanswered(new Error('timed out under load'), before);
  t.is(store.awaySinceMs(), null);
  store.unanswered(new Error('no connection'), store.answers());
  t.not(store.awaySinceMs(), null);
});

test('A suspicion lasts until the next answer and does not make the store count as away', (t) => {
  const store = makeAvailability(() => 0);
  store.suspect();
  t.deepEqual([store.isSuspect(), store.awaySinceMs()], [true, null]);
  store.answered();
  t.false(store.isSuspect());
});

test('Listeners hear of each return of a store, and of no other answer', (t) => {
  const store = makeAvailability(() => 0);
  const heard: string[] = [];
  const forget = store.onReturn(() => heard.push('one'));
  store.onReturn(() => heard.push('two'));
  store.answered();
  t.deepEqual(heard, []);
  store.unanswered();
  store.answered();
  store.answered();
  t.deepEqual(heard, ['one', 'two']);
  forget();
  store.unanswered();
  store.answered();
  t.deepEqual(heard, ['one', 'two', 'two']);
});

test('A wakeful sleep ends at its time, at the return of any store, or with an abort', async (t) => {
  // Given sleeps of a minute
  const clock = makeVirtualClock();
  const stores = [makeAvailability(() => clock.steadyMs()), makeAvailability(() => clock.steadyMs())];
  const sleep = makeWakefulSleep(clock, stores);
  const ended: string[] = [];
  const begin = (name: string, signal?: AbortSignal): Promise<void> =>
    sleep(60_000, signal).then(
      () => void ended.push(name),
      (error: unknown) => void ended.push(`${name}: ${String(error)}`),
    );
  // When no store returns, then a sleep lasts its time
  void begin('timer');
  await clock.advance(59_999);
  t.deepEqual(ended, []);
  await clock.advance(1);
  t.deepEqual(ended.splice(0), ['timer']);
  // When a store returns, then the sleeps end at once, and later ones wait again
  void begin('one');
  void begin('two');
  stores[1]?.unanswered();
  await clock.advance(1_000);
  t.deepEqual(ended, []);
  stores[1]?.answered();
  await clock.advance(0);
  t.deepEqual(ended.splice(0), ['one', 'two']);
  // When the caller aborts, then the sleep rejects with the reason, also where the abort came first
  const abort = new AbortController();
  void begin('aborted', abort.signal);
  abort.abort('the end');
  void begin('late', abort.signal);
  await clock.advance(0);
  t.deepEqual(ended, ['aborted: the end', 'late: the end']);
  t.is(clock.sleepers, 0, 'no timer is left');
});
