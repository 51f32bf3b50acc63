import test from 'ava';
import { appendDurably } from '../../src/event-sourcing/append-durably.js';
import type { NewEvent } from '../../src/event-sourcing/domain-event.js';
import {
  EventTooLarge,
  OutcomeUnknown,
  StoreDamaged,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../src/event-sourcing/errors.js';
import type { EventStore, ExpectedRevision } from '../../src/event-sourcing/event-store.js';
import { makeSeededRandom } from '../support/clock.js';
import { counterAggregate } from '../support/counter-aggregate.js';
import { recordEvents } from '../support/given-events.js';
import { makeMemoryEventStore } from '../support/memory-event-store.js';
import { makeVirtualClock, type VirtualClock } from './support/virtual-clock.js';

/** What becomes of one try: the effect is before, after or at the time of the answer, or there is none. */
type Try =
  | 'appended'
  | 'lost acknowledgement'
  | 'no effect, unknown'
  | 'unavailable'
  | 'applied by the next try'
  | 'hangs 6 s'
  | Error;

interface Scene {
  readonly clock: VirtualClock;
  readonly store: EventStore;
  /** When each try began, in milliseconds after the first. */
  readonly triedAtMs: readonly number[];
  readonly append: (expected: ExpectedRevision, events?: readonly NewEvent[]) => Promise<bigint>;
}

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

/** A store whose appends end as told, one after the other; the last kind goes on. */
function given(tries: readonly Try[], { readsFail = 0 } = {}): Scene {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const store = makeMemoryEventStore({ clock, random });
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
    append: (expected, events = newEvents(1, [1, 2])) =>
      clock.run(appendDurably({ eventStore: failing, clock, random }, { stream, expected }, events)),
  };
}

async function idsInLog(store: EventStore): Promise<readonly string[]> {
  return (await store.read(stream)).map(({ id }) => id);
}

const ourIds = newEvents(1, [1, 2]).map(({ id }) => id);

test('an append that is acknowledged is done once and tells the last revision', async (t) => {
  const { append, store, triedAtMs } = given(['appended']);
  t.is(await append('no-stream'), 1n);
  t.is(await append(1n, newEvents(2, [3])), 2n);
  t.is((await store.read(stream)).length, 3);
  t.is(triedAtMs.length, 2);
});

for (const first of ['lost acknowledgement', 'no effect, unknown', 'applied by the next try'] as const) {
  test(`an unknown outcome is repeated and written once: ${first}`, async (t) => {
    const { append, store, triedAtMs } = given([first, 'appended']);
    t.is(await append('no-stream'), 1n);
    t.deepEqual(await idsInLog(store), ourIds);
    t.is(triedAtMs.length, 2);
  });
}

test('a store that was away is tried again', async (t) => {
  const { append, store } = given(['unavailable', 'unavailable', 'appended']);
  t.is(await append('no-stream'), 1n);
  t.deepEqual(await idsInLog(store), ourIds);
});

test('a conflict after an unknown outcome is a success when our events stand there', async (t) => {
  const conflict = new WrongExpectedRevision(stream, 'no-stream');
  const { append, store } = given(['lost acknowledgement', conflict]);
  t.is(await append('no-stream'), 1n);
  t.deepEqual(await idsInLog(store), ourIds);
});

test('it is one too in a stream that was there before', async (t) => {
  const { append, store } = given([
    'appended',
    'lost acknowledgement',
    new WrongExpectedRevision(stream, 1n),
  ]);
  await append('no-stream', newEvents(2, [3, 4]));
  t.is(await append(1n), 3n);
  t.deepEqual((await idsInLog(store)).slice(2), ourIds);
});

test('it is one too when others have appended after ours', async (t) => {
  const { append, store } = given(['lost acknowledgement', new WrongExpectedRevision(stream, 'no-stream')]);
  const written = append('no-stream');
  await store.append(stream, 'no-stream', newEvents(1, [1, 2]));
  await store.append(stream, 1n, newEvents(2, [3]));
  t.is(await written, 1n);
});

for (const amounts of [[9], [9, 8], [1, 2, 3]]) {
  test(`a conflict after an unknown outcome stays one when other events stand there: ${amounts.length}`, async (t) => {
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

test('a conflict is not called a success by a node that has none of the events yet', async (t) => {
  const conflict = new WrongExpectedRevision(stream, 'no-stream');
  const { append } = given(['no effect, unknown', conflict]);
  await t.throwsAsync(append('no-stream'), { instanceOf: WrongExpectedRevision });
});

test('a conflict at the first try is a conflict, and nothing is read', async (t) => {
  const { append, triedAtMs } = given([new WrongExpectedRevision(stream, 4n)], { readsFail: Infinity });
  await t.throwsAsync(append(4n), { instanceOf: WrongExpectedRevision });
  t.is(triedAtMs.length, 1);
});

test('a conflict after the store was surely away is a conflict', async (t) => {
  const { append, triedAtMs } = given(['unavailable', new WrongExpectedRevision(stream, 4n)], {
    readsFail: Infinity,
  });
  await t.throwsAsync(append(4n), { instanceOf: WrongExpectedRevision });
  t.is(triedAtMs.length, 2);
});

test('when the conflict cannot be looked into, the outcome is not called known', async (t) => {
  const conflict = new WrongExpectedRevision(stream, 'no-stream');
  const oneReadFails = given(['lost acknowledgement', conflict], { readsFail: 1 });
  t.is(await oneReadFails.append('no-stream'), 1n);
  const allReadsFail = given(['lost acknowledgement', conflict], { readsFail: Infinity });
  await t.throwsAsync(allReadsFail.append('no-stream'), { instanceOf: OutcomeUnknown });
});

test('after three tries a store that is away is StoreUnavailable: nothing was written', async (t) => {
  const { append, triedAtMs } = given(['unavailable']);
  const error = await t.throwsAsync(append('no-stream'), { instanceOf: StoreUnavailable });
  t.is(error.name, 'StoreUnavailable');
  t.is(triedAtMs.length, 3);
});

test('one unknown outcome among three tries is OutcomeUnknown, whatever came after it', async (t) => {
  for (const tries of [
    ['no effect, unknown'],
    ['no effect, unknown', 'unavailable'],
    ['unavailable', 'no effect, unknown', 'unavailable'],
  ] as const) {
    const { append, triedAtMs } = given(tries);
    await t.throwsAsync(append('no-stream'), { instanceOf: OutcomeUnknown });
    t.is(triedAtMs.length, 3);
  }
});

test('no try begins later than 15 s after the first', async (t) => {
  const { append, triedAtMs, clock } = given(['hangs 6 s']);
  await t.throwsAsync(append('no-stream'), { instanceOf: OutcomeUnknown });
  t.is(triedAtMs.length, 3);
  const slower = given(['hangs 6 s']);
  const events = newEvents(1, [1]);
  const eventStore: EventStore = {
    ...slower.store,
    append: async () => {
      await slower.clock.sleep(8_000);
      throw new OutcomeUnknown('no answer');
    },
  };
  const deps = { eventStore, clock: slower.clock, random: makeSeededRandom(1) };
  const startMs = slower.clock.now().getTime();
  await t.throwsAsync(slower.clock.run(appendDurably(deps, { stream, expected: 'no-stream' }, events)), {
    instanceOf: OutcomeUnknown,
  });
  t.true(slower.clock.now().getTime() - startMs < 18_000, 'two tries of 8 s, and no third');
  t.is(clock.sleepers, 0);
});

test('tries are apart by full jitter: at most 100 ms, then at most 200 ms', async (t) => {
  const { append, triedAtMs } = given(['unavailable']);
  await t.throwsAsync(append('no-stream'));
  const [, second = NaN, third = NaN] = triedAtMs;
  t.true(second > 0 && second <= 100);
  t.true(third > second && third - second <= 200);
});

for (const error of [
  new EventTooLarge('too large'),
  new StoreDamaged('damaged'),
  new TypeError('a mistake'),
]) {
  test(`what trying again cannot help is final at once: ${error.name}`, async (t) => {
    const { append, triedAtMs } = given([error]);
    const thrown = await t.throwsAsync(append('no-stream'));
    t.is<Error | undefined, Error>(thrown, error);
    t.is(triedAtMs.length, 1);
  });
}
