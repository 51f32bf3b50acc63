import test from 'ava';
import { z } from 'zod';
import { makeEventCodec } from '../../src/event-sourcing/event-codec.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import type { AnyProjection } from '../../src/event-sourcing/projection.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { requestRebuild } from '../../src/event-sourcing/rebuild.js';
import { makeSeededRandom } from '../support/clock.js';
import { counterLabelsProjection, countersProjection } from '../support/counter-views.js';
import { makeMemoryEventStore } from '../support/memory-event-store.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { foldOfLog, storedDocuments } from './support/expected-documents.js';
import { type GivenProcess, givenProcess } from './support/given-process.js';
import { makeVirtualClock, type VirtualClock } from './support/virtual-clock.js';
import { writeCounters } from './support/write-counters.js';

interface Scene {
  readonly clock: VirtualClock;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  readonly makeProcess: (options?: {
    readonly projections?: readonly AnyProjection[];
    readonly readModelStore?: ReadModelStore;
  }) => Promise<GivenProcess>;
}

async function given({ counters = 5 } = {}): Promise<Scene> {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const log = makeMemoryEventStore({ clock, random });
  const documents = makeMemoryReadModelStore();
  await writeCounters(log, { counters, additions: 4 });
  return {
    clock,
    log,
    documents,
    makeProcess: ({ projections, readModelStore = documents } = {}) =>
      givenProcess({
        clock,
        random,
        eventStore: log,
        readModelStore,
        ...(projections === undefined ? {} : { projections }),
      }),
  };
}

// Fed by the same streams, but knows nothing of additions.
const openingsProjection: AnyProjection = {
  name: 'openings',
  version: 1,
  category: 'counter',
  codec: makeEventCodec({ CounterOpened: z.strictObject({ label: z.string() }) }),
  indexes: [],
  evolve: (document) => document,
};

test('every view is fed, and live once it has come to the head that was seen at start', async (t) => {
  const { clock, log, documents, makeProcess } = await given();
  const process = await makeProcess();
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
  for (const projection of [countersProjection, counterLabelsProjection]) {
    t.deepEqual(await storedDocuments(documents, `${projection.name}@1.1`), await foldOfLog(log, projection));
  }
  await runner.stop();
  t.is(clock.sleepers, 0);
  t.deepEqual(process.reports, []);
});

test('a log that is empty has been reached', async (t) => {
  const { clock, makeProcess } = await given({ counters: 0 });
  const runner = await (await makeProcess()).startProjections();
  await clock.advance(0);
  t.true(runner.live().reached);
  await runner.stop();
});

test('being live means the head at start, however fast the log grows since', async (t) => {
  const { clock, log, makeProcess, documents } = await given();
  const readModelStore: ReadModelStore = {
    ...documents,
    write: async (collection, writes) => {
      const outcomes = await documents.write(collection, writes);
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

test('an event that one view cannot decode stops that view, with a sentence, and no other', async (t) => {
  const { clock, log, documents, makeProcess } = await given();
  const process = await makeProcess({ projections: [openingsProjection, countersProjection] });
  const runner = await process.startProjections();
  await clock.advance(5_000);
  const [stopped, going] = runner.statuses();
  t.is(stopped?.state, 'stopped');
  t.regex(stopped?.reason ?? '', /CounterAdded .*counter-c1 at revision 1/);
  t.is(going?.state, 'live');
  t.false(runner.live().reached);
  t.is(process.reports.filter((report) => report.startsWith('stopped openings@1.1')).length, 1);
  await writeCounters(log, { counters: 5, additions: 1, more: true });
  await clock.advance(0);
  t.deepEqual(await storedDocuments(documents, 'counters@1.1'), await foldOfLog(log, countersProjection));
  await runner.stop();
});

test('while the registry cannot be read the views go on being fed', async (t) => {
  const { clock, log, documents, makeProcess } = await given();
  let away = false;
  const process = await makeProcess({
    readModelStore: {
      ...documents,
      getRecord: (name) => (away ? Promise.reject(new Error('no answer')) : documents.getRecord(name)),
    },
  });
  const runner = await process.startProjections();
  await clock.advance(0);
  away = true;
  await clock.advance(10_000);
  t.true(process.reports.some((report) => report.includes('the registry of generations')));
  t.deepEqual(runner.live().statuses, [], 'which of them is live, nobody knows');
  await writeCounters(log, { counters: 5, additions: 1, more: true });
  await clock.advance(0);
  t.deepEqual(await storedDocuments(documents, 'counters@1.1'), await foldOfLog(log, countersProjection));
  away = false;
  await clock.advance(1_000);
  t.is(runner.live().statuses.length, 2);
  await runner.stop();
});

test('a stop while a new generation is heard of starts no projector of it', async (t) => {
  const { clock, documents, makeProcess } = await given();
  let slow = false;
  const process = await makeProcess({
    readModelStore: {
      ...documents,
      getRecord: async (name) => {
        if (slow) await clock.sleep(300);
        return documents.getRecord(name);
      },
    },
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
