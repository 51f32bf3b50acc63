import test from 'ava';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import {
  type Generations,
  makeGenerations,
} from '../../../src/event-sourcing/views/generations/generations.js';
import { pruneViews } from '../../../src/event-sourcing/views/generations/prune-views.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import { counterLabelsProjection, countersProjection } from '../../support/kernel/counters.js';
import { makeMemoryReadModelStore } from '../../support/fakes/memory-read-model-store.js';
import { makeVirtualClock } from '../../support/kernel/virtual-clock.js';
import {
  listRecords,
  loadCheckpoint,
  putRecord,
  makeSaveCheckpoint,
} from '../../../src/event-sourcing/ports/records.js';
import { readerOf, withRecordHooks } from '../../support/kernel/faulty-stores.js';

const now = new Date('2026-01-02T03:04:05.000Z');

/** A store that processes of two releases used: `counters` had another version in the former one. */
async function given() {
  const clock = makeVirtualClock();
  const store = makeMemoryReadModelStore();
  const startRelease = async (version: number, readModelStore = store): Promise<Generations> => {
    const projections = [{ ...countersProjection, version }, counterLabelsProjection];
    const generations = makeGenerations({ projections, readModelStore, clock });
    await generations.start();
    for (const projection of projections) {
      const collection = generations.liveCollection(projection);
      await makeSaveCheckpoint(readModelStore, collection)({ logId: 'log-a', position: '5' });
    }
    return generations;
  };
  const former = await startRelease(1);
  const generations = await startRelease(2);
  const collections = async (): Promise<readonly string[]> => (await store.collections()).toSorted();
  const records = async (): Promise<readonly string[]> =>
    (await listRecords(store, '')).map(({ name }) => name).filter((name) => readerOf(name) === null);
  return { store, startRelease, former, generations, collections, records };
}

test('A prune drops what only other releases use, and names it', async (t) => {
  const { store, former, generations, collections, records } = await given();
  // Given a rebuild of the former release, a view that this release does not have, and what is no view
  await requestRebuild(former, { ...countersProjection, version: 1 }, now);
  await store.ensureCollection('gone@1.1', []);
  await store.ensureCollection('foreign', []);
  await store.ensureCollection('foreign@x.1', []);
  await putRecord(store, 'generations/gone@1', { live: 1 }, null);
  await putRecord(store, 'other/record', {}, null);
  // When this release prunes
  const pruned = await pruneViews({ generations, readModelStore: store });
  // Then it drops the others' views with their checkpoints
  t.deepEqual(pruned.collections.toSorted(), ['counters@1.1', 'counters@1.2', 'gone@1.1']);
  t.deepEqual(pruned.records.toSorted(), ['generations/counters@1', 'generations/gone@1']);
  t.deepEqual(await collections(), ['counter_labels@1.1', 'counters@2.1', 'foreign', 'foreign@x.1']);
  t.is(await loadCheckpoint(store, 'counters@1.1'), null);
  t.is((await loadCheckpoint(store, 'counters@2.1'))?.position, '5');
  t.deepEqual(await records(), ['generations/counter_labels@1', 'generations/counters@2', 'other/record']);
  // and a second prune finds nothing.
  t.deepEqual(await pruneViews({ generations, readModelStore: store }), { collections: [], records: [] });
});

test('A release that starts again after a prune skips a checkpoint that its former process saved meanwhile', async (t) => {
  const { store, startRelease, generations } = await given();
  // Given a prune, and a process of the former release that has not noticed it
  await pruneViews({ generations, readModelStore: store });
  await makeSaveCheckpoint(store, 'counters@1.1')({ logId: 'log-a', position: '9' });
  // When the former release starts again
  const again = await startRelease(1);
  // Then its view begins in a generation whose checkpoint is not ahead of its documents
  t.is(again.liveCollection({ ...countersProjection, version: 1 }), 'counters@1.2');
});

test('A prune drops generations that the registry does not name, and keeps those of a rebuild', async (t) => {
  const { store, generations, collections } = await given();
  await store.ensureCollection('counters@2.7', []);
  await store.ensureCollection('counter_labels@1.4', []);
  t.is(await requestRebuild(generations, counterLabelsProjection, now), 2);
  const { collections: dropped } = await pruneViews({ generations, readModelStore: store });
  t.deepEqual(dropped.toSorted(), ['counter_labels@1.4', 'counters@1.1', 'counters@2.7']);
  t.deepEqual(await collections(), ['counter_labels@1.1', 'counter_labels@1.2', 'counters@2.1']);
});

test('A prune keeps a generation that another process of this release makes meanwhile', async (t) => {
  const { store, startRelease, generations, collections } = await given();
  const other = await startRelease(2);
  let isAnnounced = false;
  const racing: ReadModelStore = {
    ...store,
    collections: async () => {
      isAnnounced = (await requestRebuild(other, counterLabelsProjection, now)) !== null;
      return store.collections();
    },
  };
  await pruneViews({ generations, readModelStore: racing });
  t.true(isAnnounced);
  t.deepEqual(await collections(), ['counter_labels@1.1', 'counter_labels@1.2', 'counters@2.1']);
});

test('A release that starts after a prune builds its views again from an empty generation', async (t) => {
  const { store, startRelease, generations, collections } = await given();
  await pruneViews({ generations, readModelStore: store });
  const save = () => Promise.resolve(['applied'] as const);
  const back = await startRelease(1, withRecordHooks(store, { save }));
  t.is(back.liveCollection({ ...countersProjection, version: 1 }), 'counters@1.1');
  t.is(await loadCheckpoint(store, 'counters@1.1'), null);
  t.deepEqual(await collections(), ['counter_labels@1.1', 'counters@1.1', 'counters@2.1']);
});

test('A prune that fails anywhere leaves no checkpoint without its record, and the next one ends it', async (t) => {
  const left: string[] = [];
  for (let callsLeft = 0; callsLeft < 12; callsLeft += 1) {
    const { store, startRelease, generations, collections, records } = await given();
    let calls = 0;
    const fail = (): void => {
      calls += 1;
      if (calls > callsLeft) throw new StoreUnavailable('away');
    };
    const failing: ReadModelStore = {
      ...withRecordHooks(store, {
        write: async (_, pass) => {
          fail();
          return pass();
        },
      }),
      dropCollection: async (name) => {
        fail();
        await store.dropCollection(name);
      },
    };
    await store.ensureCollection('counters@1.2', []);
    const error = await pruneViews({ generations, readModelStore: failing }).catch(
      (thrown: unknown) => thrown,
    );
    const hasRecord = (await records()).includes('generations/counters@1');
    const hasCollections = (await collections()).some((name) => name.startsWith('counters@1.'));
    t.true(hasRecord || !hasCollections);
    left.push(`${hasRecord ? 'record' : ''} ${error instanceof Error ? 'failed' : 'ended'}`.trim());
    await pruneViews({ generations, readModelStore: store });
    t.deepEqual(await collections(), ['counter_labels@1.1', 'counters@2.1']);
    await t.notThrowsAsync(startRelease(1));
    if (!(error instanceof Error)) break;
  }
  t.deepEqual(left, [...Array.from({ length: 4 }, () => 'record failed'), 'ended']);
});
