import test from 'ava';
import { noteAvailability, observeStore } from '../../src/observing/stores/observed-store.js';
import { makeAvailability } from '../../src/observing/stores/availability.js';
import {
  OutcomeUnknown,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { makeEvents } from '../contracts/event-store-fixtures.js';
import { makeTestClock } from '../support/fakes/clock.js';
import { makeMemoryEventStore } from '../support/fakes/memory-event-store.js';

/** An observed store over a memory store whose calls fail as the test says. */
function given() {
  const clock = makeTestClock();
  const availability = makeAvailability(() => clock.steadyMs());
  const memory = makeMemoryEventStore({ clock: makeTestClock(), random: () => 0 });
  let failure: Error | null = null;
  const failing: EventStore = {
    ...memory,
    read: (...call) => (failure === null ? memory.read(...call) : Promise.reject(failure)),
    readAll: (...call) => (failure === null ? memory.readAll(...call) : Promise.reject(failure)),
    append: (...call) => (failure === null ? memory.append(...call) : Promise.reject(failure)),
    logId: () => (failure === null ? memory.logId() : Promise.reject(failure)),
  };
  const store = observeStore(failing, [noteAvailability(availability)]);
  const calls = {
    read: () => store.read('any'),
    readAll: (signal: AbortSignal) => store.readAll({ after: null, limit: 1, signal }),
    append: () => store.append('any', 'no-stream', makeEvents(1)),
    nothing: () => store.append('any', 'no-stream', []),
    logId: () => store.logId(),
  };
  return {
    ...{ availability, calls },
    failWith: (error: Error | null) => {
      failure = error;
    },
  };
}

test('A read that has no answer makes the store count as away, and any answer brings it back', async (t) => {
  const { availability, calls, failWith } = given();
  failWith(new StoreUnavailable('timed out'));
  await t.throwsAsync(calls.read(), { instanceOf: StoreUnavailable });
  t.not(availability.awaySinceMs(), null);
  t.is(availability.failure()?.message, 'timed out');
  failWith(new WrongExpectedRevision('any', 0n));
  await t.throwsAsync(calls.append(), { instanceOf: WrongExpectedRevision });
  t.is(availability.awaySinceMs(), null, 'a refusal is an answer');
});

test('The id of a log that has no answer makes the store count as away', async (t) => {
  const { availability, calls, failWith } = given();
  failWith(new StoreUnavailable('timed out'));
  await t.throwsAsync(calls.logId(), { instanceOf: StoreUnavailable });
  t.not(availability.awaySinceMs(), null);
});

test('A write that has no answer is only a suspicion', async (t) => {
  const { availability, calls, failWith } = given();
  failWith(new OutcomeUnknown('no majority'));
  await t.throwsAsync(calls.append(), { instanceOf: OutcomeUnknown });
  t.deepEqual([availability.awaySinceMs(), availability.isSuspect()], [null, true]);
});

test('A call that its caller cancelled, a call for nothing and a cached answer show nothing', async (t) => {
  const { availability, calls, failWith } = given();
  failWith(new StoreUnavailable('cancelled'));
  await t.throwsAsync(calls.readAll(AbortSignal.abort()));
  t.deepEqual([availability.awaySinceMs(), availability.lastAnswerMs()], [null, null]);
  failWith(null);
  await calls.nothing();
  await calls.logId();
  t.is(availability.lastAnswerMs(), null);
  await calls.read();
  t.not(availability.lastAnswerMs(), null);
});

test('An observed store hands on the promise of the store itself', async (t) => {
  const availability = makeAvailability(() => 0);
  const memory = makeMemoryEventStore({ clock: makeTestClock(), random: () => 0 });
  const head = memory.head();
  t.is(observeStore({ ...memory, head: () => head }, [noteAvailability(availability)]).head(), head);
  await head;
});
