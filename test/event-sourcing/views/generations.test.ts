import test from 'ava';
import { StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import {
  type GenerationRecord,
  makeGenerations,
} from '../../../src/event-sourcing/views/generations/generations.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import { counterLabelsProjection, countersProjection } from '../../support/kernel/counters.js';
import { makeMemoryReadModelStore } from '../../support/fakes/memory-read-model-store.js';
import { asObject } from '../../support/clients/service-client.js';
import { makeVirtualClock } from '../../support/kernel/virtual-clock.js';
import {
  getRecord,
  loadCheckpoint,
  putRecord,
  removeRecord,
  makeSaveCheckpoint,
} from '../../../src/event-sourcing/ports/records.js';
import { type RecordHooks, withRecordHooks } from '../../support/kernel/faulty-stores.js';

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

test('The first process makes the first generation of each view, and the second process finds it', async (t) => {
  const { store, makeProcess } = given();
  await makeProcess().start();
  const before = await getRecord(store, record);
  t.deepEqual((await store.collections()).toSorted(), ['counter_labels@1.1', 'counters@1.1']);
  const second = makeProcess();
  await second.start();
  t.deepEqual(await getRecord(store, record), before);
  t.is(second.liveCollection(countersProjection), 'counters@1.1');
  t.deepEqual(second.activeCollections(countersProjection), ['counters@1.1']);
});

test('A process reads past the fields that a newer release adds to the registry, and keeps them', async (t) => {
  const { store, makeProcess } = given();
  await makeProcess().start();
  // Given a record with fields that this release does not know
  const found = await getRecord(store, record);
  const value = { ...asObject(found?.value), note: 'of a newer release' };
  await putRecord(store, record, value, found?.version ?? null);
  // When a process starts and changes the record
  const process = makeProcess();
  await process.start();
  t.is(process.liveCollection(countersProjection), 'counters@1.1');
  t.true(await process.change(countersProjection, (known) => ({ ...known, live: 2 })));
  // Then the fields are still there
  t.like(asObject((await getRecord(store, record))?.value), { live: 2, note: 'of a newer release' });
});

test('Another version of a view has its own collection', async (t) => {
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

test('A process whose registry record is removed stops', async (t) => {
  const { store, makeProcess } = given();
  const process = makeProcess();
  await process.start();
  const stored = await getRecord(store, record);
  await removeRecord(store, record, stored?.version ?? 0n);
  await t.throwsAsync(process.refresh(), { instanceOf: StoreDamaged, message: /counters@1 .*start .*again/ });
});

test('A view whose collections have no registry record begins in a generation without a collection', async (t) => {
  // Given collections that a process wrote to after a prune
  const { store, makeProcess } = given();
  for (const left of ['counters@1.1', 'counters@1.3', 'counters@11.7', 'my_counters@1.8']) {
    await store.ensureCollection(left, []);
    await makeSaveCheckpoint(store, left)({ logId: 'log-a', position: '9' });
  }
  // When two processes of that version start
  const [first, second] = [makeProcess(), makeProcess()];
  await Promise.all([first.start(), second.start()]);
  // Then both read the whole log
  for (const process of [first, second]) {
    t.is(process.liveCollection(countersProjection), 'counters@1.4');
    t.is(process.liveCollection(counterLabelsProjection), 'counter_labels@1.1');
  }
  t.is(await loadCheckpoint(store, 'counters@1.4'), null);
});

test('A process that was not started knows no generation', (t) => {
  const process = given().makeProcess();
  t.throws(() => process.liveCollection(countersProjection), { instanceOf: StoreUnavailable });
});

test('A process that reads the registry again finds a new generation and its collection', async (t) => {
  const { store, makeProcess } = given();
  const [first, second] = [makeProcess(), makeProcess()];
  await first.start();
  await second.start();
  t.is(await requestRebuild(first, countersProjection, now), 2);
  t.deepEqual(first.activeCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
  t.is(first.liveCollection(countersProjection), 'counters@1.1');
  t.deepEqual(second.activeCollections(countersProjection), ['counters@1.1']);
  await second.refresh();
  t.deepEqual(second.activeCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
  t.true((await store.collections()).includes('counters@1.2'));
  t.deepEqual(second.activeCollections(counterLabelsProjection), ['counter_labels@1.1']);
});

test('A rebuild is refused while one is running', async (t) => {
  const { makeProcess } = given();
  const process = makeProcess();
  await process.start();
  t.is(await requestRebuild(process, countersProjection, now), 2);
  t.is(await requestRebuild(process, countersProjection, now), null);
  t.is(await requestRebuild(process, counterLabelsProjection, now), 2);
});

test('One of several processes that change the registry at once succeeds, and the others are refused', async (t) => {
  const { makeProcess } = given();
  const processes = [makeProcess(), makeProcess(), makeProcess()];
  for (const process of processes) await process.start();
  const generations = await Promise.all(
    processes.map((process) => requestRebuild(process, countersProjection, now)),
  );
  t.deepEqual(generations.toSorted(), [2, null, null]);
});

test('An earlier reading of the registry does not replace a later one', async (t) => {
  const { store, makeProcess, clock } = given();
  let slow = false;
  const read: RecordHooks['read'] = async (names, pass) => {
    const waits = slow && names.includes(record);
    const found = await pass();
    if (waits) await clock.sleep(500);
    return found;
  };
  const process = makeProcess(withRecordHooks(store, { read }));
  await process.start();
  slow = true;
  const overtaken = process.refresh();
  await clock.advance(0);
  slow = false;
  await requestRebuild(process, countersProjection, now);
  await clock.run(overtaken);
  t.deepEqual(process.activeCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
});

test('The age of a reading of the registry counts from its start', async (t) => {
  const { store, makeProcess, clock } = given();
  let slow = false;
  const read: RecordHooks['read'] = async (_, pass) => {
    const found = await pass();
    if (slow) await clock.sleep(9_500);
    return found;
  };
  const process = makeProcess(withRecordHooks(store, { read }));
  await process.start();
  slow = true;
  await clock.run(process.refresh());
  t.is(process.liveCollection(countersProjection), 'counters@1.1');
  await clock.advance(600);
  t.throws(() => process.liveCollection(countersProjection), { instanceOf: StoreUnavailable });
});

test('A malformed record of the registry is an error', async (t) => {
  const { store, makeProcess } = given();
  await putRecord(store, record, { live: 0 } satisfies Partial<GenerationRecord>, null);
  await t.throwsAsync(makeProcess().start());
});

test('A registry that has lost a view is unavailable', async (t) => {
  const { store, makeProcess } = given();
  const process = makeProcess();
  await process.start();
  const lost = makeProcess({ ...store, getMany: () => Promise.resolve([]) });
  await t.throwsAsync(lost.start(), { instanceOf: StoreUnavailable });
});
