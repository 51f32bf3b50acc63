import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../src/event-sourcing/clock.js';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import type { GenerationRecord } from '../../src/event-sourcing/generations.js';
import type { ProjectionRunner } from '../../src/event-sourcing/projection-runner.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { requestRebuild } from '../../src/event-sourcing/rebuild.js';
import { makeSeededRandom } from '../support/clock.js';
import { countersProjection } from '../support/counter-views.js';
import { makeMemoryEventStore } from '../support/memory-event-store.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { foldOfLog, storedDocuments } from './support/expected-documents.js';
import { type GivenProcess, givenProcess, sendToCounter } from './support/given-process.js';
import { makeVirtualClock, type VirtualClock } from './support/virtual-clock.js';
import { writeCounters } from './support/write-counters.js';

interface Running extends GivenProcess {
  readonly runner: ProjectionRunner;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  /** Starts a process and lets it catch up. */
  readonly start: (options?: {
    readonly readModelStore?: ReadModelStore;
    readonly eventStore?: EventStore;
    readonly clock?: Clock;
  }) => Promise<Running>;
  readonly announce: (process: GivenProcess) => Promise<void>;
  readonly record: () => Promise<GenerationRecord>;
  readonly stopAll: () => Promise<void>;
}

async function given(): Promise<Scene> {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const log = makeMemoryEventStore({ clock, random });
  const documents = makeMemoryReadModelStore();
  await writeCounters(log, { counters: 5, additions: 4 });
  const runners: ProjectionRunner[] = [];
  return {
    clock,
    log,
    documents,
    start: async ({ readModelStore = documents, eventStore = log, clock: own = clock } = {}) => {
      const process = await givenProcess({
        clock: own,
        random,
        eventStore,
        readModelStore,
        projections: [countersProjection],
      });
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
      const stored = await documents.getRecord('generations/counters@1');
      return stored?.value as unknown as GenerationRecord;
    },
    stopAll: async () => {
      await clock.run(Promise.all(runners.map((runner) => runner.stop())));
    },
  };
}

/** The rebuild is over: the second generation is live, right, and alone. */
async function thenRebuilt(t: ExecutionContext, { log, documents, record }: Scene): Promise<void> {
  t.like(await record(), { live: 2, building: null, retiring: null, dropping: null });
  t.deepEqual(await documents.collections(), ['counters@1.2']);
  t.deepEqual(await storedDocuments(documents, 'counters@1.2'), await foldOfLog(log, countersProjection));
}

test('a view is rebuilt beside the live one, switched to, and the old one goes', async (t) => {
  const scene = await given();
  const { clock, start, announce, record, stopAll } = scene;
  const [first, second] = [await start(), await start()];
  await announce(first);
  await clock.until(() => first.generations.liveCollection(countersProjection) === 'counters@1.2', 10_000);
  t.like(await record(), { live: 2, building: null, retiring: { generation: 1 } });
  await clock.until(() => second.generations.liveCollection(countersProjection) === 'counters@1.2', 1_000);
  for (const { views, runner } of [first, second]) {
    t.like(await views.of(countersProjection).get('c1'), { revision: 4n, body: { total: 10 } });
    t.true(runner.live().reached);
  }
  await clock.advance(20_000);
  await thenRebuilt(t, scene);
  const reports = [...first.reports, ...second.reports];
  t.deepEqual(reports, ['rebuilt counters@1.2: 0 of 5 differ'], 'one process switched, and nobody stumbled');
  await stopAll();
});

test('the switch comes 5 s after the announcement at the earliest', async (t) => {
  const { clock, start, announce, record, stopAll } = await given();
  const first = await start();
  await start();
  await clock.advance(700);
  await announce(first);
  await clock.advance(4_999);
  t.is((await record()).live, 1);
  await clock.advance(3_001);
  t.is((await record()).live, 2);
  await stopAll();
});

test('a process whose clock is ahead by an hour waits as long as the others', async (t) => {
  const scene = await given();
  const { clock, start, announce, record, stopAll } = scene;
  const first = await start();
  const ahead: Clock = { ...clock, now: () => new Date(clock.now().getTime() + 3_600_000) };
  await start({ clock: ahead });
  await announce(first);
  await clock.advance(4_999);
  t.is((await record()).live, 1);
  await clock.advance(8_000);
  t.true(
    (await scene.documents.collections()).includes('counters@1.1'),
    'and no process still reads what is dropped',
  );
  await clock.advance(20_000);
  await thenRebuilt(t, scene);
  await stopAll();
});

test('the old generation is fed for 10 s after the switch, and is there for 5 s more', async (t) => {
  const { clock, documents, start, announce, record, stopAll } = await given();
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
  const unfedMs = await momentOf('dropping');
  t.true(unfedMs - switchedMs >= 10_000 - 100 && unfedMs - switchedMs <= 12_000);
  const droppedMs = await momentOf(null);
  t.true(droppedMs - unfedMs >= 5_000 - 100 && droppedMs - unfedMs <= 7_000);
  await stopAll();
});

test('documents that differ at the same revision are listed, and do not stop the switch', async (t) => {
  const scene = await given();
  const { clock, documents, start, announce, record, stopAll } = scene;
  const first = await start();
  // The live view is wrong in one document, and behind in another.
  const [c1, c2, ...others] = await storedDocuments(documents, 'counters@1.1');
  if (c1?.body == null || c2 === undefined) throw new Error('there are documents');
  await documents.dropCollection('counters@1.1');
  await documents.ensureCollection('counters@1.1', []);
  const wrong = [{ ...c1, body: { ...c1.body, total: 999 } }, { ...c2, revision: 2n }, ...others];
  await documents.write(
    'counters@1.1',
    wrong.map((document) => ({ document, foldedFrom: 'whole-stream' as const })),
  );
  await announce(first);
  await clock.advance(30_000);
  const { last_rebuild } = await record();
  t.like(last_rebuild, { compared: 4, different: 1, different_ids: ['c1'] });
  t.deepEqual(first.reports, ['rebuilt counters@1.2: 1 of 4 differ']);
  await thenRebuilt(t, scene);
  await stopAll();
});

test('both generations are fed and written through until the old one is no longer named', async (t) => {
  const scene = await given();
  const { clock, documents, log, start, announce, record, stopAll } = scene;
  const [first, second] = [await start(), await start()];
  await announce(first);
  await clock.advance(1_500);
  for (let n = 0; (await record()).dropping === null; n += 1) {
    const { handler } = n % 2 === 0 ? first : second;
    await clock.run(sendToCounter(handler, 'fresh', { type: 'Open', label: 'a' }, 0));
    await clock.run(
      sendToCounter(handler, 'fresh', { type: 'Add', operation: `fresh${n}`, amounts: [1] }, n + 1),
    );
    // Read right after the reply, wherever a process may read now.
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
  await clock.advance(20_000);
  await thenRebuilt(t, scene);
  t.deepEqual(
    [...first.reports, ...second.reports].filter((report) => !report.startsWith('rebuilt')),
    [],
    'nobody wrote to what is gone',
  );
  await stopAll();
});

test('there is no switch before the new generation has what was in the log when all had heard of it', async (t) => {
  const scene = await given();
  const { clock, log, documents, start, announce, record, stopAll } = scene;
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
  // Appended by a process that has not heard of the new generation.
  await writeCounters(log, { counters: 2, additions: 1, prefix: 'unheard' });
  await clock.advance(30_000);
  t.is((await record()).live, 1);
  stuck = false;
  await clock.advance(12_000);
  t.is((await record()).live, 2);
  t.not(await documents.get('counters@1.2', 'unheard1'), null);
  await stopAll();
});

test('a rebuild ends though the log never rests', async (t) => {
  const { clock, log, documents, start, announce, record, stopAll } = await given();
  // The projectors are always a little behind the head.
  const first = await start({
    readModelStore: {
      ...documents,
      write: async (collection, writes) => {
        await clock.sleep(250);
        return documents.write(collection, writes);
      },
    },
  });
  await announce(first);
  for (let n = 0; n < 80; n += 1) {
    await writeCounters(log, { counters: 1, additions: 1, more: true });
    await clock.advance(100);
  }
  t.is((await record()).live, 2);
  await stopAll();
});

test('a new generation that stopped on an event is not switched to', async (t) => {
  const { clock, log, documents, start, announce, record, stopAll } = await given();
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
  await stopAll();
});

test('a comparison that takes long does not keep the process from reading the registry', async (t) => {
  const { clock, documents, start, announce, stopAll } = await given();
  const first = await start({
    readModelStore: {
      ...documents,
      scan: async (collection, options) => {
        await clock.sleep(15_000);
        return documents.scan(collection, options);
      },
    },
  });
  await announce(first);
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1_000);
    t.notThrows(() => first.generations.liveCollection(countersProjection));
  }
  t.is(first.generations.liveCollection(countersProjection), 'counters@1.2');
  await stopAll();
});

test('a process that is behind with a new generation that another has filled stays ready', async (t) => {
  const { clock, log, documents, start, announce, stopAll } = await given();
  const first = await start({
    readModelStore: {
      ...documents,
      // So the other one finds no checkpoint to begin at.
      saveCheckpoint: async (collection, checkpoint) => {
        await clock.sleep(3_000);
        await documents.saveCheckpoint(collection, checkpoint);
      },
    },
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
  await clock.advance(12_000);
  t.is(second.generations.liveCollection(countersProjection), 'counters@1.2');
  t.true(second.runner.live().reached);
  t.like(await second.views.of(countersProjection).get('c1'), { body: { total: 10 } });
  await stopAll();
});

test('what a crash left of earlier generations is dropped at start', async (t) => {
  const scene = await given();
  const { clock, documents, start, announce, stopAll } = scene;
  const first = await start();
  await announce(first);
  await clock.advance(38_000);
  // A paused process wrote to it long after.
  await documents.ensureCollection('counters@1.1', []);
  await start();
  await thenRebuilt(t, scene);
  await stopAll();
});

test('a process that starts drops no generation that is still fed, or whose time to go has not come', async (t) => {
  const scene = await given();
  const { clock, documents, start, announce, stopAll } = scene;
  const first = await start();
  await announce(first);
  for (const phase of ['retiring', 'dropping'] as const) {
    // Given a generation that others may use yet
    await clock.until(() => first.generations.record(countersProjection)[phase] !== null, 20_000);
    const dropped: string[] = [];
    const dropCollection = (collection: string): Promise<void> => {
      dropped.push(collection);
      return documents.dropCollection(collection);
    };
    // When a process starts, and looks for what crashes have left
    await start({ readModelStore: { ...documents, dropCollection } });
    // Then it leaves that alone
    t.deepEqual(dropped, [], phase);
    t.is((await storedDocuments(documents, 'counters@1.1')).length, 5, phase);
  }
  await clock.advance(20_000);
  await thenRebuilt(t, scene);
  await stopAll();
});

test('a process whose views were dropped, because it was taken for gone, stops and says so', async (t) => {
  const scene = await given();
  const { reports } = await scene.start();
  const name = 'in-use/counters@1';
  const inUse = await scene.documents.getRecord(name);
  await scene.documents.putRecord(name, { dropped_through: 1 }, inUse?.version ?? null);
  await scene.clock.advance(31_000);
  const stopped = reports.filter((report) => report.startsWith('stopped the versions of views'));
  t.is(stopped.length, 1);
  t.regex(stopped[0] ?? '', /counters@1 was taken for unused and dropped.*start it again/);
  await scene.stopAll();
});
