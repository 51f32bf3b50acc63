import test from 'ava';
import { makeFoldedStreams } from '../../../src/event-sourcing/deciding/folded-streams.js';
import type { Aggregate } from '../../../src/event-sourcing/deciding/command-handler.js';
import {
  counterAggregate,
  type CounterEvent,
  type CounterCommand,
  counterCodec,
  contextOf,
} from '../../support/kernel/counters.js';
import { givenWorld, handlerWithoutViews } from '../../support/kernel/world.js';

/** Each event replaces what the one before it has left. */
const lastOperation: Aggregate<string, CounterCommand, CounterEvent> = {
  category: 'counter',
  codec: counterCodec,
  decider: {
    initialState: '',
    decide: () => [],
    evolve: (before, event) => (event.type === 'CounterAdded' ? event.data.operation : before),
  },
};

/** A cache of 1,000 streams and 160,000 bytes of JSON, which take five times as much, and streams of events of the given length. */
function given() {
  const world = givenWorld();
  const handler = handlerWithoutViews(world);
  const streams = makeFoldedStreams({
    eventStore: world.eventStore,
    documentWriter: { viewsOf: () => [] },
    ...{ streamsMax: 1_000, bytesMax: 5 * 160_000 },
  });
  const targetOf = (id: string) => ({ aggregate: lastOperation, stream: `counter-${id}` });
  const load = async (id: string, length: number, events = 1): Promise<void> => {
    const send = (command: CounterCommand, n: number) =>
      handler.handle({ aggregate: counterAggregate, id }, command, contextOf(n, world.clock.now()));
    await send({ type: 'Open', label: 'x' }, 1);
    const amounts = Array.from({ length: events }, () => 1);
    await send({ type: 'Add', operation: 'x'.repeat(length), amounts }, 2);
    await streams.latest(targetOf(id));
  };
  const isCached = (id: string): boolean => streams.cached(targetOf(id), 'remembered') !== null;
  return { load, isCached };
}

test('The cache of folded streams evicts the oldest by bytes', async (t) => {
  const { load, isCached } = given();
  // Given a hundred folds of 5,000 bytes
  for (let n = 0; n < 100; n += 1) await load(`c${n}`, 5_000);
  // Then the newest that fit are there
  const cached = Array.from({ length: 100 }, (_, n) => n).filter((n) => isCached(`c${n}`));
  t.true(cached.length >= 25 && cached.length <= 32, `${cached.length} folds`);
  t.is(cached.at(-1), 99);
  t.is(cached[0], 100 - cached.length);
});

test('A fold that is larger than the cache evicts a sixteenth of it, and is cached', async (t) => {
  const { load, isCached } = given();
  for (let n = 0; n < 100; n += 1) await load(`c${n}`, 500);
  await load('large', 200_000);
  t.true(isCached('large'));
  t.true(isCached('c99') && isCached('c0'), 'small folds stay');
});

test('A fold takes as much of the cache as it holds, however many events made it', async (t) => {
  const { load, isCached } = given();
  for (let n = 0; n < 100; n += 1) await load(`c${n}`, 500, 40);
  t.true(isCached('c0'), 'the oldest of 2 MB of events, of which a fortieth is left');
});

test('A long stream is folded over several turns of the event loop', async (t) => {
  const { load } = given();
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  await load('long', 1, 1_600);
  clearImmediate(counting);
  t.true(turns >= 3, `${turns} turns`);
});

/** Keeps when the store recorded each event of a counter. A command names the number of events that it knows. */
const times: Aggregate<readonly Date[], number, CounterEvent> = {
  category: counterAggregate.category,
  codec: counterCodec,
  decider: {
    initialState: [],
    decide: (known, recorded) =>
      recorded.length === known ? [{ type: 'CounterOpened', data: { label: `${known}` } }] : [],
    evolve: (recorded, event) => [...recorded, event.recordedAt],
  },
};

test('A decision sees when the store recorded an event, not when it was decided', async (t) => {
  const world = givenWorld();
  const handler = handlerWithoutViews(world);
  await world.clock.advance(60_000);
  const expected: Date[] = [];
  for (const n of [0, 1, 2]) {
    await world.clock.advance(1_000);
    await handler.handle({ aggregate: times, id: 'c1' }, n, contextOf(n), { load: 'remembered' });
    expected.push(world.clock.now());
  }
  t.deepEqual((await handler.load(times, 'c1')).state, expected);
});
