import test from 'ava';
import { appendDurably, retryRead } from '../../../src/event-sourcing/deciding/append-durably.js';
import type { RequestProgress } from '../../../src/event-sourcing/ports/command-context.js';
import type { NewEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import {
  EventTooLarge,
  OutcomeUnknown,
  StoreDamaged,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore, ExpectedRevision } from '../../../src/event-sourcing/ports/event-store.js';
import { counterAggregate } from '../../support/kernel/counters.js';
import { recordEvents } from '../../support/given/given-events.js';
import { givenWorld } from '../../support/kernel/world.js';
import type { VirtualClock } from '../../support/kernel/virtual-clock.js';

/** The outcome of one attempt. Its effect comes before, after or at the time of the answer, or there is none. */
type Try =
  | 'appended'
  | 'lost acknowledgement'
  | 'no effect, unknown'
  | 'unavailable'
  | 'applied by the next try'
  | 'hangs 6 s'
  | Error;

const stream = 'counter-c1';

function newEvents(command: number, amounts: readonly number[]): readonly NewEvent[] {
  const events = amounts.map((amount) => ({
    type: 'CounterAdded' as const,
    data: { amount, operation: `o${command}` },
  }));
  return recordEvents(counterAggregate, 'c1', events).map(({ type, data, metadata }, index) => ({
    id: `00000000-0000-5000-8000-${String(command * 100 + index).padStart(12, '0')}`,
    type,
    data,
    metadata,
  }));
}

interface Scene {
  readonly clock: VirtualClock;
  readonly store: EventStore;
  /** The start of each attempt, in milliseconds after the first. */
  readonly triedAtMs: readonly number[];
  readonly append: (
    expected: ExpectedRevision,
    events?: readonly NewEvent[],
    request?: RequestProgress,
  ) => Promise<bigint>;
}

/** Returns a store whose appends end as given, one after the other. The last outcome repeats. */
function given(tries: readonly Try[], { readsFail = 0 } = {}): Scene {
  const { clock, random, eventStore: store } = givenWorld();
  const triedAtMs: number[] = [];
  let startMs = NaN;
  let delayed: (() => Promise<unknown>) | null = null;
  let readsToFail = readsFail;
  const failing: EventStore = {
    ...store,
    read: (name, options) => {
      readsToFail -= 1;
      return readsToFail >= 0 ? Promise.reject(new StoreUnavailable('read')) : store.read(name, options);
    },
    append: async (name, expected, events) => {
      const nowMs = clock.now().getTime();
      if (triedAtMs.length === 0) startMs = nowMs;
      const outcome = tries[Math.min(triedAtMs.length, tries.length - 1)] ?? 'appended';
      triedAtMs.push(nowMs - startMs);
      await delayed?.();
      delayed = null;
      const effect = (): Promise<unknown> => store.append(name, expected, events);
      if (outcome instanceof Error) throw outcome;
      switch (outcome) {
        case 'appended':
          return store.append(name, expected, events);
        case 'lost acknowledgement':
          await effect();
          break;
        case 'applied by the next try':
          delayed = effect;
          break;
        case 'hangs 6 s':
          await clock.sleep(6_000);
          break;
        case 'unavailable':
          throw new StoreUnavailable('refused');
        case 'no effect, unknown':
          break;
      }
      throw new OutcomeUnknown('no answer');
    },
  };
  return {
    clock,
    store,
    triedAtMs,
    append: (expected, events = newEvents(1, [1, 2]), request) =>
      clock.run(
        appendDurably({ eventStore: failing, clock, random }, { stream, expected }, events, { request }).then(
          ({ revision }) => revision,
        ),
      ),
  };
}

/** @param overAfter the questions after which the request has been answered */
function makeProgress({ overAfter = Infinity } = {}): RequestProgress & { mayHaveWritten(): boolean } {
  let asked = 0;
  let appends = 0;
  return {
    isOver: () => {
      asked += 1;
      return asked > overAfter;
    },
    appending: () => {
      appends += 1;
    },
    wroteNothing: () => {
      appends -= 1;
    },
    mayHaveWritten: () => appends > 0,
  };
}

async function idsInLog(store: EventStore): Promise<readonly string[]> {
  return (await store.read(stream)).map(({ id }) => id);
}

const ourIds = newEvents(1, [1, 2]).map(({ id }) => id);

test('An acknowledged append is written once and returns the last revision', async (t) => {
  const { append, store, triedAtMs } = given(['appended']);
  t.is(await append('no-stream'), 1n);
  t.is(await append(1n, newEvents(2, [3])), 2n);
  t.is((await store.read(stream)).length, 3);
  t.is(triedAtMs.length, 2);
});

for (const first of ['no effect, unknown', 'applied by the next try'] as const) {
  test(`An append that the stream does not show is repeated and written once: ${first}`, async (t) => {
    const { append, store, triedAtMs } = given([first, 'appended']);
    t.is(await append('no-stream'), 1n);
    t.deepEqual(await idsInLog(store), ourIds);
    t.is(triedAtMs.length, 2);
  });
}

test('A store that is away is tried again', async (t) => {
  const { append, store } = given(['unavailable', 'unavailable', 'appended']);
  t.is(await append('no-stream'), 1n);
  t.deepEqual(await idsInLog(store), ourIds);
});

test('A conflict after an unknown outcome is a success when the stream contains our events', async (t) => {
  const conflict = new WrongExpectedRevision(stream, 'no-stream');
  const { append, store } = given(['applied by the next try', conflict]);
  t.is(await append('no-stream'), 1n);
  t.deepEqual(await idsInLog(store), ourIds);
});

test('A conflict after an unknown outcome is also a success in a stream that existed before', async (t) => {
  const { append, store } = given([
    'appended',
    'applied by the next try',
    new WrongExpectedRevision(stream, 1n),
  ]);
  await append('no-stream', newEvents(2, [3, 4]));
  t.is(await append(1n), 3n);
  t.deepEqual((await idsInLog(store)).slice(2), ourIds);
});

test('A conflict after an unknown outcome is also a success when other writers have appended after our events', async (t) => {
  const { append, store } = given(['no effect, unknown', new WrongExpectedRevision(stream, 'no-stream')]);
  const written = append('no-stream');
  await store.append(stream, 'no-stream', newEvents(1, [1, 2]));
  await store.append(stream, 1n, newEvents(2, [3]));
  t.is(await written, 1n);
});

for (const amounts of [[9], [9, 8], [1, 2, 3]]) {
  test(`A conflict after an unknown outcome stays a conflict when the stream contains ${amounts.length} other events`, async (t) => {
    const { append, store } = given([
      'no effect, unknown',
      new WrongExpectedRevision(stream, 'no-stream'),
      'appended',
    ]);
    const others = newEvents(2, amounts);
    await store.append(stream, 'no-stream', others);
    await t.throwsAsync(append('no-stream'), { instanceOf: WrongExpectedRevision });
    t.deepEqual(
      await idsInLog(store),
      others.map(({ id }) => id),
    );
  });
}

test('A conflict from a node that has none of the events yet stays a conflict', async (t) => {
  const conflict = new WrongExpectedRevision(stream, 'no-stream');
  const { append } = given(['no effect, unknown', conflict]);
  await t.throwsAsync(append('no-stream'), { instanceOf: WrongExpectedRevision });
});

test('A conflict at the first attempt is a conflict, and nothing is read', async (t) => {
  const { append, triedAtMs } = given([new WrongExpectedRevision(stream, 4n)], { readsFail: Infinity });
  await t.throwsAsync(append(4n), { instanceOf: WrongExpectedRevision });
  t.is(triedAtMs.length, 1);
});

test('A conflict after the store was known to be away is a conflict', async (t) => {
  const { append, triedAtMs } = given(['unavailable', new WrongExpectedRevision(stream, 4n)], {
    readsFail: Infinity,
  });
  await t.throwsAsync(append(4n), { instanceOf: WrongExpectedRevision });
  t.is(triedAtMs.length, 2);
});

test('The outcome stays unknown while the reads after it fail', async (t) => {
  const conflict = new WrongExpectedRevision(stream, 'no-stream');
  const oneReadFails = given(['lost acknowledgement', conflict], { readsFail: 1 });
  t.is(await oneReadFails.append('no-stream'), 1n);
  const allReadsFail = given(['lost acknowledgement', conflict], { readsFail: Infinity });
  await t.throwsAsync(allReadsFail.append('no-stream'), { instanceOf: OutcomeUnknown });
});

test('A store that is away for five attempts leads to StoreUnavailable, because nothing was written', async (t) => {
  const { append, triedAtMs } = given(['unavailable']);
  const error = await t.throwsAsync(append('no-stream'), { instanceOf: StoreUnavailable });
  t.is(error.name, 'StoreUnavailable');
  t.is(triedAtMs.length, 5);
});

test('One unknown outcome among five attempts leads to OutcomeUnknown', async (t) => {
  for (const tries of [
    ['no effect, unknown'],
    ['no effect, unknown', 'unavailable'],
    ['unavailable', 'no effect, unknown', 'unavailable'],
  ] as const) {
    const { append, triedAtMs } = given(tries);
    await t.throwsAsync(append('no-stream'), { instanceOf: OutcomeUnknown });
    t.is(triedAtMs.length, 5);
  }
});

test('No attempt begins later than 10 s after the first', async (t) => {
  const { append, triedAtMs, clock } = given(['hangs 6 s']);
  await t.throwsAsync(append('no-stream'), { instanceOf: OutcomeUnknown });
  t.is(triedAtMs.length, 2);
  t.is(clock.sleepers, 0);
});

test('Five attempts are spread over 1.1 to 1.9 s, so a blip of 0.3 s fails no command', async (t) => {
  const { append, triedAtMs } = given(['unavailable']);
  await t.throwsAsync(append('no-stream'));
  const last = triedAtMs.at(-1) ?? 0;
  t.true(last >= 1_100 && last <= 1_900, `${last} ms`);
  const blip = given(['unavailable', 'unavailable', 'appended']);
  await blip.append('no-stream');
  t.true((blip.triedAtMs.at(-1) ?? 0) < 400, 'and the command waits little longer than the blip');
});

test('After a lost answer the stream is read before anything is sent again', async (t) => {
  // As EventStoreDB does: a repetition of events that it is still writing is dropped, and unanswered for 2 s.
  const { append, clock, store, triedAtMs } = given(['lost acknowledgement', 'hangs 6 s']);
  const startMs = clock.now().getTime();
  t.is(await append('no-stream'), 1n);
  t.true(clock.now().getTime() - startMs <= 100);
  t.is(triedAtMs.length, 1);
  t.deepEqual(await idsInLog(store), ourIds);
});

test('A stream without the events is read again before each further attempt, because the store may still write', async (t) => {
  const { append, store, triedAtMs } = given(['no effect, unknown', 'lost acknowledgement', 'hangs 6 s']);
  const written = append('no-stream');
  t.is(await written, 1n);
  t.is(triedAtMs.length, 2);
  t.deepEqual(await idsInLog(store), ourIds);
});

test('A request that has been answered begins no append, and an attempt under way is its last', async (t) => {
  const answered = given(['appended']);
  const before = makeProgress({ overAfter: 0 });
  await t.throwsAsync(answered.append('no-stream', undefined, before), { instanceOf: StoreUnavailable });
  t.deepEqual([answered.triedAtMs.length, before.mayHaveWritten()], [0, false]);
  const underWay = given(['no effect, unknown']);
  const meanwhile = makeProgress({ overAfter: 1 });
  await t.throwsAsync(underWay.append('no-stream', undefined, meanwhile), { instanceOf: OutcomeUnknown });
  t.deepEqual([underWay.triedAtMs.length, meanwhile.mayHaveWritten()], [1, true]);
});

test('A request may have written after a success and an unknown outcome, and not after a clear failure', async (t) => {
  const cases: readonly [Try, boolean][] = [
    ['appended', true],
    ['lost acknowledgement', true],
    ['no effect, unknown', true],
    ['unavailable', false],
    [new WrongExpectedRevision(stream, 'no-stream'), false],
    [new EventTooLarge('too large'), false],
  ];
  for (const [outcome, expected] of cases) {
    const progress = makeProgress();
    await given([outcome])
      .append('no-stream', undefined, progress)
      .catch(() => undefined);
    t.is(progress.mayHaveWritten(), expected, String(outcome));
  }
});

for (const error of [
  new EventTooLarge('too large'),
  new StoreDamaged('damaged'),
  new TypeError('a mistake'),
]) {
  test(`An error that a retry cannot repair is final at once: ${error.name}`, async (t) => {
    const { append, triedAtMs } = given([error]);
    const thrown = await t.throwsAsync(append('no-stream'));
    t.is<Error | undefined, Error>(thrown, error);
    t.is(triedAtMs.length, 1);
  });
}

test('A step of the wall clock ends neither the retries of an append nor those of a read', async (t) => {
  for (const hours of [1, -1]) {
    const { clock, random, eventStore } = givenWorld();
    let [appends, reads] = [0, 0];
    const failing: EventStore = {
      ...eventStore,
      append: (...args) => {
        appends += 1;
        clock.set(hours * 3_600_000);
        return appends < 3 ? Promise.reject(new StoreUnavailable('refused')) : eventStore.append(...args);
      },
    };
    const append = appendDurably(
      { eventStore: failing, clock, random },
      { stream, expected: 'no-stream' },
      newEvents(1, [1]),
    );
    t.is((await clock.run(append)).revision, 0n);
    const read = (): Promise<string> => {
      reads += 1;
      clock.set(hours * 3_600_000);
      return reads < 3 ? Promise.reject(new StoreUnavailable('refused')) : Promise.resolve('read');
    };
    t.is(await clock.run(retryRead(read, { clock, random })), 'read');
  }
});
