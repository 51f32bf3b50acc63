import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../../src/kit/time/clock.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { GenerationRecord } from '../../../src/event-sourcing/views/generations/generations.js';
import type { ProjectionRunner } from '../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import { countersProjection, writeCounters } from '../../support/kernel/counters.js';
import {
  foldOfLog,
  storedDocuments,
  type GivenProcess,
  givenProcess,
  sendToCounter,
  givenWorld,
} from '../../support/kernel/world.js';
import type { VirtualClock } from '../../support/kernel/virtual-clock.js';
import {
  recordsCollection,
  getRecord,
  putRecord,
  removeRecord,
} from '../../../src/event-sourcing/ports/records.js';
import { withRecordHooks } from '../../support/kernel/faulty-stores.js';

interface Running extends GivenProcess {
  readonly runner: ProjectionRunner;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  /** Starts a process and waits until it has caught up. */
  readonly start: (options?: {
    readonly readModelStore?: ReadModelStore;
    readonly eventStore?: EventStore;
    readonly clock?: Clock;
  }) => Promise<Running>;
  readonly announce: (process: GivenProcess) => Promise<void>;
  readonly record: () => Promise<GenerationRecord>;
}

/** Given a log of counters. The end of the test stops the processes. */
async function given(t: ExecutionContext): Promise<Scene> {
  const world = givenWorld();
  const { clock, eventStore: log, readModelStore: documents } = world;
  await writeCounters(log, { counters: 5, additions: 4 });
  const runners: ProjectionRunner[] = [];
  t.teardown(() => clock.run(Promise.all(runners.map((runner) => runner.stop()))));
  return {
    clock,
    log,
    documents,
    start: async (options = {}) => {
      const process = await givenProcess({ ...world, ...options, projections: [countersProjection] });
      const runner = await process.startProjections();
      runners.push(runner);
      await clock.advance(0);
      return { ...process, runner };
    },
    announce: async ({ generations }) => {
      await generations.refresh();
      await requestRebuild(generations, countersProjection, clock.now());
    },
    record: async () => {
      const stored = await getRecord(documents, 'generations/counters@1');
      return stored?.value as unknown as GenerationRecord;
    },
  };
}

/** Asserts the end of the rebuild: the second generation is live and right, and the only one. */
async function thenRebuilt(t: ExecutionContext, { log, documents, record }: Scene): Promise<void> {
  t.like(await record(), { live: 2, building: null, retiring: null, dropping: null });
  t.deepEqual(await documents.collections(), ['counters@1.2']);
  t.deepEqual(await storedDocuments(documents, 'counters@1.2'), await foldOfLog(log, countersProjection));
}

test('A view is rebuilt beside the live generation, becomes live, and the old generation is dropped', async (t) => {
  const scene = await given(t);
  const { clock, start, announce, record } = scene;
  const [first, second] = [await start(), await start()];
  await announce(first);
  await clock.until(() => first.generations.liveCollection(countersProjection) === 'counters@1.2', 20_000);
  t.like(await record(), { live: 2, building: null, retiring: { generation: 1 } });
  await clock.until(() => second.generations.liveCollection(countersProjection) === 'counters@1.2', 2_000);
  for (const { views, runner } of [first, second]) {
    t.like(await views.of(countersProjection).get('c1'), { revision: 4n, body: { total: 10 } });
    t.true(runner.live().reached);
  }
  await clock.advance(40_000);
  await thenRebuilt(t, scene);
  const reports = [...first.reports, ...second.reports];
  t.deepEqual(reports, ['rebuilt counters@1.2: 0 of 5 differ'], 'one process switched, and none failed');
});

test('A rebuild keeps the fields that a newer release added to the registry', async (t) => {
  const scene = await given(t);
  const { clock, documents, start, announce, record } = scene;
  const process = await start();
  const stored = await getRecord(documents, 'generations/counters@1');
  const value = { ...stored?.value, note: 'of a newer release' };
  await putRecord(documents, 'generations/counters@1', value, stored?.version ?? null);
  await announce(process);
  await clock.advance(60_000);
  await thenRebuilt(t, scene);
  t.like(await record(), { note: 'of a newer release' });
});

test('A stop ends the comparison of the generations', async (t) => {
  // Given a comparison of many pages
  const { clock, documents, start, announce, record } = await given(t);
  let scans = 0;
  const onScan: (() => void)[] = [];
  const readModelStore: ReadModelStore = {
    ...documents,
    scan: async (collection, options) => {
      if (collection !== 'counters@1.1') return documents.scan(collection, options);
      scans += 1;
      onScan.pop()?.();
      const { limit } = options;
      const [one] = await documents.scan(collection, { limit: 1 });
      return scans > 50 || one === undefined ? [] : Array.from({ length: limit }, () => one);
    },
  };
  const process = await start({ readModelStore });
  await announce(process);
  // When the process stops meanwhile
  const begun = new Promise<void>((resolve) => onScan.push(() => void process.runner.stop().then(resolve)));
  await clock.until(() => scans > 0, 20_000);
  await clock.run(begun);
  // Then no further page is read, and the old generation stays
  t.is(scans, 1);
  t.is((await record()).live, 1);
});

test('The switch comes at the earliest 15 s after the announcement', async (t) => {
  const { clock, start, announce, record } = await given(t);
  const first = await start();
  await start();
  await clock.advance(700);
  await announce(first);
  await clock.advance(14_999);
  t.is((await record()).live, 1);
  await clock.advance(3_001);
  t.is((await record()).live, 2);
});

test('A process whose clock is ahead by an hour waits as long as the others', async (t) => {
  const scene = await given(t);
  const { clock, start, announce, record } = scene;
  const first = await start();
  const ahead: Clock = { ...clock, now: () => new Date(clock.now().getTime() + 3_600_000) };
  await start({ clock: ahead });
  await announce(first);
  await clock.advance(14_999);
  t.is((await record()).live, 1);
  await clock.advance(18_000);
  t.true(
    (await scene.documents.collections()).includes('counters@1.1'),
    'no process still reads the dropped generation',
  );
  await clock.advance(40_000);
  await thenRebuilt(t, scene);
});

for (const hours of [1, -1]) {
  test(`A step of the wall clock by ${hours} h neither cuts nor lengthens a phase of a rebuild`, async (t) => {
    const scene = await given(t);
    const { clock, start, announce, record } = scene;
    const first = await start();
    await start();
    await announce(first);
    // When the wall clock is set within each phase
    await clock.advance(5_000);
    clock.set(hours * 3_600_000);
    await clock.advance(9_000);
    t.is((await record()).live, 1);
    await clock.until(() => first.generations.liveCollection(countersProjection) === 'counters@1.2', 5_000);
    clock.set(hours * 3_600_000);
    await clock.advance(10_000);
    t.like(await record(), { retiring: { generation: 1 } });
    await clock.advance(8_000);
    clock.set(hours * 3_600_000);
    await clock.advance(5_000);
    // Then the old generation is still there for the processes that read it
    t.true((await scene.documents.collections()).includes('counters@1.1'));
    await clock.advance(15_000);
    await thenRebuilt(t, scene);
  });
}

test('The old generation is active for 15 s after the switch and exists for 15 s more', async (t) => {
  const { clock, documents, start, announce, record } = await given(t);
  const first = await start();
  await announce(first);
  const momentOf = async (phase: 'retiring' | 'dropping' | null): Promise<number> => {
    for (;;) {
      const { building, retiring, dropping } = await record();
      const now = retiring !== null ? 'retiring' : dropping !== null ? 'dropping' : null;
      if (building === null && now === phase) return clock.now().getTime();
      t.true((await documents.collections()).includes('counters@1.1'));
      await clock.advance(100);
    }
  };
  const switchedMs = await momentOf('retiring');
  const stalledMs = await momentOf('dropping');
  t.true(stalledMs - switchedMs >= 15_000 - 100 && stalledMs - switchedMs <= 17_100);
  const droppedMs = await momentOf(null);
  t.true(droppedMs - stalledMs >= 15_000 - 100 && droppedMs - stalledMs <= 17_100);
});

test('Documents that differ at the same revision are listed and do not prevent the switch', async (t) => {
  const scene = await given(t);
  const { clock, documents, start, announce, record } = scene;
  const first = await start();
  // The live view is wrong in one document and behind in another.
  const [c1, c2, ...others] = await storedDocuments(documents, 'counters@1.1');
  if (c1?.body == null || c2 === undefined) throw new Error('documents are missing');
  await documents.dropCollection('counters@1.1');
  await documents.ensureCollection('counters@1.1', []);
  const wrong = [{ ...c1, body: { ...c1.body, total: 999 } }, { ...c2, revision: 2n }, ...others];
  await documents.write(
    'counters@1.1',
    wrong.map((document) => ({ document, foldedFrom: 'whole-stream' as const })),
  );
  await announce(first);
  await clock.advance(60_000);
  const { last_rebuild } = await record();
  t.like(last_rebuild, { compared: 4, different: 1, different_ids: ['c1'] });
  t.deepEqual(first.reports, ['rebuilt counters@1.2: 1 of 4 differ']);
  await thenRebuilt(t, scene);
});

test('Both generations are active and written through until the registry no longer names the old one', async (t) => {
  const scene = await given(t);
  const { clock, documents, log, start, announce, record } = scene;
  const [first, second] = [await start(), await start()];
  await announce(first);
  await clock.advance(2_500);
  for (let n = 0; (await record()).dropping === null; n += 1) {
    const { handler } = n % 2 === 0 ? first : second;
    await clock.run(sendToCounter(handler, 'fresh', { type: 'Open', label: 'a' }, 0));
    await clock.run(
      sendToCounter(handler, 'fresh', { type: 'Add', operation: `fresh${n}`, amounts: [1] }, n + 1),
    );
    // A caller reads its own write in each generation that a process may read.
    for (const generation of ['counters@1.1', 'counters@1.2']) {
      t.is((await documents.get(generation, 'fresh'))?.revision, BigInt(n + 1));
    }
    await writeCounters(log, { counters: 3, additions: 1, more: true });
    await clock.advance(400);
    const fold = await foldOfLog(log, countersProjection);
    if ((await record()).dropping === null)
      t.deepEqual(await storedDocuments(documents, 'counters@1.1'), fold);
    t.deepEqual(await storedDocuments(documents, 'counters@1.2'), fold);
  }
  await clock.advance(40_000);
  await thenRebuilt(t, scene);
  t.deepEqual(
    [...first.reports, ...second.reports].filter((report) => !report.startsWith('rebuilt')),
    [],
    'no process wrote to a dropped generation',
  );
});

test('The switch waits until the new generation has the events that were in the log when all processes knew of it', async (t) => {
  const scene = await given(t);
  const { clock, log, documents, start, announce, record } = scene;
  let stuck = false;
  const first = await start({
    readModelStore: {
      ...documents,
      write: (collection, writes) =>
        stuck && collection === 'counters@1.2'
          ? Promise.reject(new StoreUnavailable('no answer'))
          : documents.write(collection, writes),
    },
  });
  await announce(first);
  await clock.advance(3_000);
  stuck = true;
  // A process that does not know the new generation yet appends these.
  await writeCounters(log, { counters: 2, additions: 1, prefix: 'unheard' });
  await clock.advance(30_000);
  t.is((await record()).live, 1);
  stuck = false;
  await clock.advance(16_000);
  t.is((await record()).live, 2);
  t.not(await documents.get('counters@1.2', 'unheard1'), null);
});

test('A rebuild ends although the log never rests', async (t) => {
  const { clock, log, documents, start, announce, record } = await given(t);
  // The projectors are always a little behind the head.
  const first = await start({
    readModelStore: {
      ...documents,
      write: async (collection, writes) => {
        if (collection !== recordsCollection) await clock.sleep(250);
        return documents.write(collection, writes);
      },
    },
  });
  await announce(first);
  for (let n = 0; n < 180; n += 1) {
    await writeCounters(log, { counters: 1, additions: 1, more: true });
    await clock.advance(100);
  }
  t.is((await record()).live, 2);
});

test('A new generation that stopped at an event does not become live', async (t) => {
  const { clock, log, documents, start, announce, record } = await given(t);
  const first = await start({
    readModelStore: {
      ...documents,
      write: (collection, writes) =>
        collection === 'counters@1.2'
          ? Promise.reject(new TypeError('a mistake'))
          : documents.write(collection, writes),
    },
  });
  await announce(first);
  await writeCounters(log, { counters: 1, additions: 1, more: true });
  await clock.advance(60_000);
  t.is((await record()).live, 1);
  t.true(first.runner.live().reached);
});

/** A store whose documents take 25 s to be read in pages. */
function slowToCompare({ clock, documents }: Scene): ReadModelStore {
  return {
    ...documents,
    scan: async (collection, options) => {
      if (collection !== recordsCollection) await clock.sleep(25_000);
      return documents.scan(collection, options);
    },
  };
}

test('A long comparison does not keep the process from reading the registry', async (t) => {
  const scene = await given(t);
  const { clock, start, announce } = scene;
  const first = await start({ readModelStore: slowToCompare(scene) });
  await announce(first);
  for (let second = 0; second < 50; second += 1) {
    await clock.advance(1_000);
    t.notThrows(() => first.generations.liveCollection(countersProjection));
  }
  t.is(first.generations.liveCollection(countersProjection), 'counters@1.2');
});

test('A process whose comparison ends after the switch of another one reports no rebuild', async (t) => {
  const scene = await given(t);
  const slow = await scene.start({ readModelStore: slowToCompare(scene) });
  const quick = await scene.start();
  await scene.announce(quick);
  await scene.clock.advance(200_000);
  await thenRebuilt(t, scene);
  t.deepEqual([slow.reports, quick.reports], [[], ['rebuilt counters@1.2: 0 of 5 differ']]);
});

test('A process that is behind with a generation that another process has filled stays ready', async (t) => {
  const { clock, log, documents, start, announce } = await given(t);
  const first = await start({
    readModelStore: withRecordHooks(documents, {
      // The late checkpoint makes the other process start without one.
      save: async (_, pass) => {
        await clock.sleep(3_000);
        return pass();
      },
    }),
  });
  let slow = false;
  const second = await start({
    eventStore: {
      ...log,
      subscribe: async function* (options) {
        for await (const page of log.subscribe(options)) {
          if (slow) await clock.sleep(60_000);
          yield page;
        }
      },
    },
  });
  slow = true;
  await announce(first);
  await clock.advance(20_000);
  t.is(second.generations.liveCollection(countersProjection), 'counters@1.2');
  t.true(second.runner.live().reached);
  t.like(await second.views.of(countersProjection).get('c1'), { body: { total: 10 } });
});

test('The collections that a crash left of earlier generations are dropped at start', async (t) => {
  const scene = await given(t);
  const { clock, documents, start, announce } = scene;
  const first = await start();
  await announce(first);
  await clock.advance(68_000);
  // A paused process wrote to the collection long after.
  await documents.ensureCollection('counters@1.1', []);
  await start();
  await thenRebuilt(t, scene);
});

test('A starting process drops no generation that is still active or whose end has not come', async (t) => {
  const scene = await given(t);
  const { clock, documents, start, announce } = scene;
  const first = await start();
  await announce(first);
  for (const phase of ['retiring', 'dropping'] as const) {
    // Given a generation that other processes may still use
    await clock.until(() => first.generations.record(countersProjection)[phase] !== null, 40_000);
    const dropped: string[] = [];
    const dropCollection = (collection: string): Promise<void> => {
      dropped.push(collection);
      return documents.dropCollection(collection);
    };
    // When a process starts and looks for the rests of crashes
    await start({ readModelStore: { ...documents, dropCollection } });
    // Then it does not drop that generation
    t.deepEqual(dropped, [], phase);
    t.is((await storedDocuments(documents, 'counters@1.1')).length, 5, phase);
  }
  await clock.advance(40_000);
  await thenRebuilt(t, scene);
});

test('A process whose view is no longer in the registry stops, and names both causes', async (t) => {
  const scene = await given(t);
  const { reports } = await scene.start();
  const name = 'generations/counters@1';
  const stored = await getRecord(scene.documents, name);
  await removeRecord(scene.documents, name, stored?.version ?? 0n);
  await scene.clock.advance(2_000);
  const stopped = reports.filter((report) => report.startsWith('stopped the registry of generations'));
  t.is(stopped.length, 1);
  t.regex(
    stopped[0] ?? '',
    /counters@1 any more: a prune .* or the read models were deleted; start this process again/,
  );
});
