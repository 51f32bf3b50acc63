import test from 'ava';
import { makeFoldedStreams } from '../../../src/event-sourcing/deciding/folded-streams.js';
import { counterAggregate, contextOf } from '../../support/kernel/counters.js';
import { givenWorld, handlerWithoutViews } from '../../support/kernel/world.js';

/** A cache of 1,000 streams and 160,000 bytes of JSON, which take five times as much, and streams with a label of the given length. */
function given() {
  const world = givenWorld();
  const handler = handlerWithoutViews(world);
  const streams = makeFoldedStreams({
    eventStore: world.eventStore,
    documentWriter: { viewsOf: () => [] },
    ...{ streamsMax: 1_000, bytesMax: 5 * 160_000 },
  });
  const targetOf = (id: string) => ({ aggregate: counterAggregate, stream: `counter-${id}` });
  const load = async (id: string, labelLength: number): Promise<void> => {
    const command = { type: 'Open', label: 'x'.repeat(labelLength) } as const;
    await handler.handle({ aggregate: counterAggregate, id }, command, contextOf(1, world.clock.now()));
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
