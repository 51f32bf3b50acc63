import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../../../src/kit/time/clock.js';
import { StoreDamaged, UndecodableEvent } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { feederKey, type Lease, makeLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import type { ProjectionRunner } from '../../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { requestRebuild } from '../../../../src/event-sourcing/views/generations/rebuild.js';
import {
  counterLabelsProjection,
  countersProjection,
  writeCounters,
} from '../../../support/kernel/counters.js';
import {
  foldOfLog,
  storedDocuments,
  type GivenProcess,
  givenProcess,
  givenWorld,
} from '../../../support/kernel/world.js';
import { noting } from '../../../support/fakes/around-calls.js';
import type { VirtualClock } from '../../../support/kernel/virtual-clock.js';
import { recordsCollection } from '../../../../src/event-sourcing/ports/records.js';

const projections = [countersProjection, counterLabelsProjection];
/** The names of processes. The first one to start feeds. */
const [feeder, second, third] = ['ada', 'bob', 'cleo'] as const;

interface Running extends GivenProcess {
  readonly lease: Lease;
  readonly runner: ProjectionRunner;
  /** Returns the views that the process feeds. */
  readonly feeds: () => readonly string[];
}

interface Scene {
  readonly clock: VirtualClock;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  readonly start: (
    id: string,
    options?: {
      readonly readModelStore?: ReadModelStore;
      readonly eventStore?: EventStore;
      readonly clock?: Clock;
      /** A process that a test kills does not stop. */
      readonly isKilled?: boolean;
    },
  ) => Promise<Running>;
  /** Appends to all counters. */
  readonly write: () => Promise<void>;
}

/** Given a log of some counters, and processes that share their stores. */
async function given(t: ExecutionContext): Promise<Scene> {
  const world = givenWorld();
  const { clock, stateStore, eventStore: log, readModelStore: documents } = world;
  await writeCounters(log, { counters: 5, additions: 4 });
  const runners: ProjectionRunner[] = [];
  let killed = 0;
  t.teardown(async () => {
    await clock.run(Promise.all(runners.map((runner) => runner.stop())));
    if (killed === 0 && clock.sleepers > 0) throw new Error('something still waits after the stop');
  });
  return {
    clock,
    log,
    documents,
    start: async (id, { isKilled = false, ...options } = {}) => {
      const own = { ...world, ...options };
      const lease = makeLease({
        id,
        keyOf: feederKey,
        stateStore,
        clock: own.clock,
        onRetry: () => undefined,
      });
      const process = await givenProcess({ ...own, lease });
      const runner = await process.startProjections();
      lease.start();
      await clock.advance(0);
      if (isKilled) killed += 1;
      else runners.push(runner);
      const feeds = (): readonly string[] => runner.statuses().map(({ collection }) => collection);
      return { ...process, lease, runner, feeds };
    },
    write: () => writeCounters(log, { counters: 5, additions: 1, more: true }),
  };
}

async function thenViewsAreTheFold(t: ExecutionContext, { log, documents }: Scene): Promise<void> {
  for (const projection of projections) {
    t.deepEqual(await storedDocuments(documents, `${projection.name}@1.1`), await foldOfLog(log, projection));
  }
}

/** Returns the read models with a count of the calls that only a feeder makes. */
function counting(store: ReadModelStore): { readonly store: ReadModelStore; readonly calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    store: {
      ...store,
      getMany: (collection, ids) => {
        if (collection !== recordsCollection) calls += 1;
        return store.getMany(collection, ids);
      },
      write: (...args) => {
        calls += 1;
        return store.write(...args);
      },
    },
  };
}

test('One of two processes feeds all views, and both are ready', async (t) => {
  const scene = await given(t);
  const { clock, start, write } = scene;
  const [a, b] = [await start(feeder), await start(second)];
  await clock.advance(3_000);
  t.deepEqual([a.feeds(), b.feeds()], [['counters@1.1', 'counter_labels@1.1'], []]);
  t.true(a.runner.live().reached && b.runner.live().reached);
  await write();
  await clock.advance(1_000);
  await thenViewsAreTheFold(t, scene);
  t.deepEqual([...a.reports, ...b.reports], []);
});

test('A process that starts beside a live one is ready within 4 s', async (t) => {
  const { clock, start, log } = await given(t);
  await start(feeder);
  await clock.advance(30_000);
  // Given an owner that holds checkpoints back, because its views do not change
  await writeCounters(log, { counters: 1, additions: 1, category: 'other' });
  await clock.advance(200);
  const b = await start(second);
  await clock.advance(4_000);
  t.true(b.runner.live().reached);
  t.deepEqual(b.feeds(), []);
});

test('A process that starts after a kill -9 of the only one is ready within 3 s', async (t) => {
  const { clock, start } = await given(t);
  // The clock of the killed process never wakes it again.
  const stopped: Clock = { ...clock, sleep: () => new Promise(() => undefined) };
  const killed = await start(second, { clock: stopped, isKilled: true });
  t.is(killed.feeds().length, 2);
  const process = await start(feeder);
  await clock.advance(3_000);
  t.true(process.runner.live().reached);
  t.is(process.feeds().length, 2);
});

test('Another process feeds the views of one that dies, within 11 s', async (t) => {
  const scene = await given(t);
  const { clock, start, write, documents } = scene;
  let isDead = false;
  const dying: Clock = {
    ...clock,
    sleep: (ms, signal) => (isDead ? new Promise(() => undefined) : clock.sleep(ms, signal)),
  };
  const silent: ReadModelStore = {
    ...documents,
    write: (...args) => (isDead ? new Promise(() => undefined) : documents.write(...args)),
  };
  await start(feeder, { clock: dying, readModelStore: silent, isKilled: true });
  const a = await start(second);
  await clock.advance(20_000);
  t.deepEqual(a.feeds(), []);
  isDead = true;
  await write();
  await clock.advance(11_000);
  t.deepEqual(a.feeds().toSorted(), ['counter_labels@1.1', 'counters@1.1']);
  await thenViewsAreTheFold(t, scene);
});

test('A view that stops in its process is taken over by another one, and the report of the stop stays', async (t) => {
  const scene = await given(t);
  const { clock, start, log, write } = scene;
  // Given a release that cannot read the log of its view, and a newer one beside it
  const older: EventStore = {
    ...log,
    subscribe: () => {
      throw new UndecodableEvent('an event is unknown to this version');
    },
  };
  const a = await start(feeder, { eventStore: older });
  await clock.advance(1_000);
  t.deepEqual(
    a.runner.statuses().map(({ state }) => state),
    ['stopped', 'stopped'],
  );
  // When the newer one runs for a while
  const b = await start(second);
  await write();
  await clock.advance(5_000);
  // Then it feeds both views and is ready, and the older one says why it has stopped
  t.deepEqual(b.feeds(), ['counters@1.1', 'counter_labels@1.1']);
  t.true(b.runner.live().reached);
  t.is(a.runner.statuses()[0]?.reason, 'an event is unknown to this version');
  await thenViewsAreTheFold(t, scene);
});

test('A process that stops hands its views over within 3 s', async (t) => {
  const scene = await given(t);
  const { clock, start, write } = scene;
  const [b, a] = [await start(feeder), await start(second)];
  await clock.advance(20_000);
  t.is(a.feeds().length, 0);
  await clock.run(b.runner.stop());
  await write();
  await clock.advance(3_000);
  t.is(a.feeds().length, 2);
  await thenViewsAreTheFold(t, scene);
});

test('A process that feeds no view reads neither pages nor documents', async (t) => {
  const { clock, start, documents, log, write } = await given(t);
  await start(feeder);
  await start(second);
  await clock.advance(10_000);
  const counted = counting(documents);
  const subscriptions: unknown[] = [];
  const idle = await start(third, {
    readModelStore: counted.store,
    eventStore: {
      ...log,
      subscribe: (options) => {
        subscriptions.push(options);
        return log.subscribe(options);
      },
    },
  });
  t.deepEqual(idle.feeds(), []);
  await write();
  await clock.advance(20_000);
  t.true(idle.runner.live().reached);
  t.deepEqual(subscriptions, []);
  t.is(counted.calls(), 0);
});

test('An idle process reads the registry and the lease every 2 s, and of the log its head every 5 s', async (t) => {
  const { clock, start, documents, log } = await given(t);
  await start(feeder);
  await clock.advance(10_000);
  const calls: string[] = [];
  const stores = {
    readModelStore: noting(documents, 'documents', calls),
    eventStore: noting(log, 'log', calls),
  };
  const idle = await start(third, stores);
  await clock.advance(10_000);
  t.true(idle.runner.live().reached);
  calls.splice(0);
  await clock.advance(60_000);
  const count = (name: string): number => calls.filter((call) => call === name).length;
  t.deepEqual([...new Set(calls)].sort(), ['documents.getMany', 'log.head']);
  t.true(count('documents.getMany') <= 31 && count('log.head') <= 13, calls.join());
});

test('A reaction learns of a view that another process feeds', async (t) => {
  const { clock, start, log, write } = await given(t);
  const [a, b] = [await start(feeder), await start(second)];
  await clock.advance(20_000);
  await write();
  const head = (await log.head()) ?? '';
  t.false(b.runner.shows(countersProjection, head));
  await clock.advance(4_000);
  t.true(b.runner.shows(countersProjection, head));
  t.true(a.runner.shows(countersProjection, head));
  t.false(b.runner.shows({ name: 'unknown' }, head));
});

test('A rebuild goes on in the process that takes the view over', async (t) => {
  const scene = await given(t);
  const { clock, start, documents } = scene;
  const [a, b] = [await start(feeder), await start(second)];
  await clock.advance(20_000);
  await requestRebuild(b.generations, countersProjection, clock.now());
  await clock.advance(10_000);
  t.deepEqual(a.feeds().toSorted(), ['counter_labels@1.1', 'counters@1.1', 'counters@1.2']);
  await clock.run(a.runner.stop());
  await clock.advance(90_000);
  t.deepEqual((await documents.collections()).toSorted(), ['counter_labels@1.1', 'counters@1.2']);
  t.is(b.generations.liveCollection(countersProjection), 'counters@1.2');
});

test('A view that stands still for 15 s while the log moves is named by the other processes, and one that rests is not', async (t) => {
  const { clock, start, documents, write } = await given(t);
  let stuck = false;
  await start(feeder, {
    readModelStore: {
      ...documents,
      write: async (collection, writes) => {
        if (stuck && collection.startsWith('counters@')) await clock.sleep(120_000);
        return documents.write(collection, writes);
      },
    },
  });
  const b = await start(second);
  await clock.advance(120_000);
  t.deepEqual(b.runner.problems(), []);
  stuck = true;
  await write();
  await clock.advance(14_000);
  t.deepEqual(b.runner.problems(), []);
  await clock.advance(7_000);
  t.deepEqual(
    b.runner.stalled().map(({ consumer }) => consumer),
    ['view/counters@1'],
  );
  t.regex(b.runner.problems()[0] ?? '', /^the view counters@1 is stalled: no process feeds it for \d+ s$/);
  t.true((b.runner.lagsMs().get('counters') ?? 0) >= 14_000);
  t.is(b.runner.lagsMs().get('counter_labels'), 0);
});

test('A view whose owner reads nothing of the log any more is named by the other processes', async (t) => {
  const { clock, start, log, write } = await given(t);
  let isDeaf = false;
  const deaf: EventStore = {
    ...log,
    subscribe: async function* (options) {
      for await (const page of log.subscribe(options)) {
        if (isDeaf) await clock.sleep(60_000, options.signal);
        yield page;
      }
    },
  };
  await start(feeder, { eventStore: deaf });
  const b = await start(second);
  await clock.advance(10_000);
  isDeaf = true;
  await write();
  await clock.advance(25_000);
  t.is(b.runner.problems().length, 2);
  t.true((b.runner.lagsMs().get('counters') ?? 0) >= 15_000);
});

test('A reaction that no live process runs is named after 15 s', async (t) => {
  const { clock, start } = await given(t);
  const { lease, runner } = await start(feeder);
  lease.add('reaction/mail', () => ({ state: 'stopped', lagMs: 0, problem: null }));
  await clock.advance(20_000);
  t.deepEqual(runner.problems(), []);
  lease.stopped('reaction/mail');
  await clock.advance(14_000);
  t.deepEqual(runner.problems(), []);
  await clock.advance(3_000);
  t.is(runner.problems().length, 1);
  t.regex(runner.problems()[0] ?? '', /^the reaction mail is stalled: /);
});

test('A process that feeds no view refuses a log that is not the one of the checkpoints', async (t) => {
  const { clock, start, log } = await given(t);
  await start(feeder);
  await start(second);
  await clock.advance(10_000);
  const other = await start(third, {
    eventStore: { ...log, logId: () => Promise.resolve('another log') },
  });
  await clock.advance(2_000);
  t.false(other.runner.live().reached);
  t.regex(other.reports.join('\n'), /stopped .*another log/);
  t.true(other.reports.some((report) => report.includes(StoreDamaged.name)));
});
