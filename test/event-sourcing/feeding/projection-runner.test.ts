import test from 'ava';
import { z } from 'zod';
import { makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { makeSoleLease } from '../../../src/event-sourcing/feeding/consumers/lease.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import { counterLabelsProjection, countersProjection, writeCounters } from '../../support/kernel/counters.js';
import { foldOfLog, storedDocuments, givenProcess, givenWorld } from '../../support/kernel/world.js';
import { quarantinedItems } from '../../../src/event-sourcing/feeding/quarantine.js';
import { isRegistry, withRecordHooks } from '../../support/kernel/faulty-stores.js';
import { recordsCollection } from '../../../src/event-sourcing/ports/records.js';

async function given({ counters = 5 } = {}) {
  const world = givenWorld();
  const { clock, eventStore: log, readModelStore: documents } = world;
  await writeCounters(log, { counters, additions: 4 });
  return {
    clock,
    log,
    documents,
    makeProcess: (options = {}) => givenProcess({ ...world, ...options }),
  };
}

// This view follows the same streams, but its codec does not know the additions.
const openingsProjection: Projection = {
  name: 'openings',
  version: 1,
  category: 'counter',
  codec: makeEventCodec({ CounterOpened: z.strictObject({ label: z.string() }) }),
  indexes: [],
  evolve: (document) => document,
};

test('Every view is active, and is live once it has reached the head at start', async (t) => {
  const { clock, log, documents, makeProcess } = await given();
  const lease = makeSoleLease('process 1');
  const process = await makeProcess({ lease });
  const runner = await process.startProjections();
  t.false(runner.live().reached);
  await clock.advance(0);
  t.true(runner.live().reached);
  const head = await log.head();
  t.deepEqual(
    runner
      .statuses()
      .map(({ collection, state, position, atHead, reason }) => [
        collection,
        state,
        position,
        atHead,
        reason,
      ]),
    [
      ['counters@1.1', 'live', head, true, null],
      ['counter_labels@1.1', 'live', head, true, null],
    ],
  );
  t.deepEqual(
    [...lease.progress().values()].map(({ state }) => state),
    ['running', 'running'],
  );
  for (const projection of [countersProjection, counterLabelsProjection]) {
    t.deepEqual(await storedDocuments(documents, `${projection.name}@1.1`), await foldOfLog(log, projection));
  }
  await runner.stop();
  t.is(clock.sleepers, 0);
  t.deepEqual(process.reports, []);
});

test('An idle process looks at each view once a second, and no consumer that rests keeps a timer', async (t) => {
  const { clock, makeProcess } = await given();
  const process = await makeProcess();
  let asked = 0;
  const { generations } = process;
  const runner = await process.startProjections({
    generations: { ...generations, knownLive: (view) => ((asked += 1), generations.knownLive(view)) },
  });
  await clock.advance(30_000);
  const before = asked;
  await clock.advance(10_000);
  t.is(asked - before, 10 * generations.projections.length);
  // The tick, and the poll of the log
  t.is(clock.sleepers, 2);
  await runner.stop();
});

test('An empty log counts as reached', async (t) => {
  const { clock, makeProcess } = await given({ counters: 0 });
  const runner = await (await makeProcess()).startProjections();
  await clock.advance(0);
  t.true(runner.live().reached);
  await runner.stop();
});

test('A view is live at the head at start, however fast the log grows', async (t) => {
  const { clock, log, makeProcess, documents } = await given();
  const readModelStore: ReadModelStore = {
    ...documents,
    write: async (collection, writes) => {
      const outcomes = await documents.write(collection, writes);
      if (collection === recordsCollection) return outcomes;
      await writeCounters(log, { counters: 1, additions: 1, more: true });
      await clock.sleep(10);
      return outcomes;
    },
  };
  const runner = await (await makeProcess({ readModelStore })).startProjections();
  await clock.until(() => runner.live().reached, 1_000);
  t.true(runner.live().reached);
  await clock.run(runner.stop());
});

test('Events that one view cannot decode quarantine their streams there, and in no other view', async (t) => {
  const { clock, log, documents, makeProcess } = await given();
  const process = await makeProcess({ projections: [openingsProjection, countersProjection] });
  const runner = await process.startProjections();
  await clock.advance(5_000);
  const [openings, counters] = runner.statuses();
  t.is(openings?.state, 'live');
  t.true((openings?.quarantined ?? 0) > 0);
  t.is(counters?.quarantined, 0);
  t.true(runner.live().reached);
  const [quarantined] = await quarantinedItems(documents, 'openings@1.1');
  t.regex(quarantined?.reason ?? '', /CounterAdded .*counter-c\d at revision 1/);
  await writeCounters(log, { counters: 5, additions: 1, more: true });
  await clock.advance(0);
  t.deepEqual(await storedDocuments(documents, 'counters@1.1'), await foldOfLog(log, countersProjection));
  await runner.stop();
});

test('The views are active while the registry cannot be read', async (t) => {
  const { clock, log, documents, makeProcess } = await given();
  let away = false;
  const process = await makeProcess({
    readModelStore: withRecordHooks(documents, {
      read: (names, pass) => (away && isRegistry(names) ? Promise.reject(new Error('no answer')) : pass()),
    }),
  });
  const runner = await process.startProjections();
  await clock.advance(0);
  away = true;
  await clock.advance(13_000);
  t.true(process.reports.some((report) => report.includes('the registry of generations')));
  t.deepEqual(runner.live().statuses, [], 'the process does not know which generation is live');
  await writeCounters(log, { counters: 5, additions: 1, more: true });
  await clock.advance(0);
  t.deepEqual(await storedDocuments(documents, 'counters@1.1'), await foldOfLog(log, countersProjection));
  away = false;
  await clock.advance(2_000);
  t.is(runner.live().statuses.length, 2);
  await runner.stop();
});

test('A stop during the discovery of a new generation starts no projector of it', async (t) => {
  const { clock, documents, makeProcess } = await given();
  let slow = false;
  const process = await makeProcess({
    readModelStore: withRecordHooks(documents, {
      read: async (names, pass) => {
        if (slow && isRegistry(names)) await clock.sleep(300);
        return pass();
      },
    }),
  });
  const other = await makeProcess();
  const runner = await process.startProjections();
  await clock.advance(500);
  await other.generations.refresh();
  await requestRebuild(other.generations, countersProjection, clock.now());
  slow = true;
  await clock.advance(600);
  const stopping = runner.stop();
  await clock.run(stopping);
  t.deepEqual(
    runner.statuses().map(({ collection }) => collection),
    ['counters@1.1', 'counter_labels@1.1'],
  );
  await clock.advance(60_000);
  t.is(clock.sleepers, 0);
  t.deepEqual(await storedDocuments(documents, 'counters@1.2'), []);
});
