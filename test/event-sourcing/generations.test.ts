import test from 'ava';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { type GenerationRecord, makeGenerations } from '../../src/event-sourcing/generations.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { requestRebuild } from '../../src/event-sourcing/rebuild.js';
import { counterLabelsProjection, countersProjection } from '../support/counter-views.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { makeVirtualClock } from './support/virtual-clock.js';

const projections = [countersProjection, counterLabelsProjection];
const record = 'generations/counters@1';

const now = new Date('2026-01-02T03:04:05.000Z');

function given(): {
  readonly clock: ReturnType<typeof makeVirtualClock>;
  readonly store: ReadModelStore;
  readonly makeProcess: (store?: ReadModelStore) => ReturnType<typeof makeGenerations>;
} {
  const clock = makeVirtualClock();
  const store = makeMemoryReadModelStore();
  return {
    clock,
    store,
    makeProcess: (readModelStore = store) => makeGenerations({ projections, readModelStore, clock }),
  };
}

test('the first process makes the first generation of each view, and the second finds it', async (t) => {
  const { store, makeProcess } = given();
  await makeProcess().start();
  const before = await store.getRecord(record);
  t.deepEqual((await store.collections()).toSorted(), ['counter_labels@1.1', 'counters@1.1']);
  const second = makeProcess();
  await second.start();
  t.deepEqual(await store.getRecord(record), before);
  t.is(second.liveCollection(countersProjection), 'counters@1.1');
  t.deepEqual(second.fedCollections(countersProjection), ['counters@1.1']);
});

test('another version of a view is another view', async (t) => {
  const { store, clock } = given();
  for (const version of [1, 2]) {
    const process = makeGenerations({
      projections: [{ ...countersProjection, version }],
      readModelStore: store,
      clock,
    });
    await process.start();
  }
  t.deepEqual((await store.collections()).toSorted(), ['counters@1.1', 'counters@2.1']);
});

test('a process that was not started knows no generation', (t) => {
  const process = given().makeProcess();
  t.throws(() => process.liveCollection(countersProjection), { instanceOf: StoreUnavailable });
});

test('every process hears of a new generation when it reads the registry again, and finds its collection made', async (t) => {
  const { store, makeProcess } = given();
  const [first, second] = [makeProcess(), makeProcess()];
  await first.start();
  await second.start();
  t.is(await requestRebuild(first, countersProjection, now), 2);
  t.deepEqual(first.fedCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
  t.is(first.liveCollection(countersProjection), 'counters@1.1');
  t.deepEqual(second.fedCollections(countersProjection), ['counters@1.1']);
  await second.refresh();
  t.deepEqual(second.fedCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
  t.true((await store.collections()).includes('counters@1.2'));
  t.deepEqual(second.fedCollections(counterLabelsProjection), ['counter_labels@1.1']);
});

test('a rebuild is refused while one is under way', async (t) => {
  const { makeProcess } = given();
  const process = makeProcess();
  await process.start();
  t.is(await requestRebuild(process, countersProjection, now), 2);
  t.is(await requestRebuild(process, countersProjection, now), null);
  t.is(await requestRebuild(process, counterLabelsProjection, now), 2);
});

test('of two processes that change the registry at once one is told that it did not', async (t) => {
  const { makeProcess } = given();
  const processes = [makeProcess(), makeProcess(), makeProcess()];
  for (const process of processes) await process.start();
  const generations = await Promise.all(
    processes.map((process) => requestRebuild(process, countersProjection, now)),
  );
  t.deepEqual(generations.toSorted(), [2, null, null]);
});

test('a reading of the registry that was overtaken by a later one is not put back', async (t) => {
  const { store, makeProcess, clock } = given();
  let slow = false;
  const process = makeProcess({
    ...store,
    getRecord: async (name) => {
      const waits = slow;
      const found = await store.getRecord(name);
      if (waits) await clock.sleep(500);
      return found;
    },
  });
  await process.start();
  slow = true;
  const overtaken = process.refresh();
  slow = false;
  await requestRebuild(process, countersProjection, now);
  await clock.run(overtaken);
  t.deepEqual(process.fedCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
});

test('a record that is not one is an error, and not taken for anything', async (t) => {
  const { store, makeProcess } = given();
  await store.putRecord(record, { live: 0 } satisfies Partial<GenerationRecord>, null);
  await t.throwsAsync(makeProcess().start());
});

test('a registry that has lost a view is unavailable', async (t) => {
  const { store, makeProcess } = given();
  const process = makeProcess();
  await process.start();
  const lost = makeProcess({ ...store, getRecord: () => Promise.resolve(null) });
  await t.throwsAsync(lost.start(), { instanceOf: StoreUnavailable });
});
