import test from 'ava';
import { StoreDamaged, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import {
  type GenerationRecord,
  type Generations,
  makeGenerations,
} from '../../src/event-sourcing/generations.js';
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

/** Processes of two code versions over one store; each is what its loops do, one second after the other. */
async function givenTwoVersions() {
  const { store, clock } = given();
  const makeVersion = async (version: number, deps: Partial<Parameters<typeof makeGenerations>[0]> = {}) => {
    const process = makeGenerations({
      projections: [{ ...countersProjection, version }],
      readModelStore: store,
      clock,
      ...deps,
    });
    await process.start();
    return process;
  };
  const run = async (seconds: number, processes: readonly Generations[]): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1_000);
      for (const process of processes) {
        await process.refresh();
        await process.tendVersions();
      }
    }
  };
  const older = await makeVersion(1);
  const newer = await makeVersion(2);
  return { store, clock, makeVersion, run, older, newer };
}

test('collections of another version stay while a process uses them, and go ten minutes after the last one', async (t) => {
  const { store, run, older, newer } = await givenTwoVersions();
  await store.ensureCollection('foreign', []);
  // While both run, as in a rolling upgrade
  await run(1_500, [older, newer]);
  t.deepEqual((await store.collections()).toSorted(), ['counters@1.1', 'counters@2.1', 'foreign']);
  // and for ten minutes after the old one was heard of last.
  await run(560, [newer]);
  t.true((await store.collections()).includes('counters@1.1'));
  await run(130, [newer]);
  t.deepEqual((await store.collections()).toSorted(), ['counters@2.1', 'foreign']);
  t.is(newer.liveCollection({ ...countersProjection, version: 2 }), 'counters@2.1');
});

test('a roll-back drops the newer version in the same way', async (t) => {
  const { store, run, older } = await givenTwoVersions();
  await run(700, [older]);
  t.deepEqual(await store.collections(), ['counters@1.1']);
});

test('a process that was taken for gone ends when it comes back; one that starts builds a new generation', async (t) => {
  const { store, makeVersion, run, older, newer } = await givenTwoVersions();
  await run(700, [newer]);
  await t.throwsAsync(older.refresh(), { instanceOf: StoreDamaged, message: /counters@1 .*start it again/ });
  await t.throwsAsync(older.tendVersions(), { instanceOf: StoreDamaged });
  t.throws(() => older.liveCollection(countersProjection), { instanceOf: StoreUnavailable });
  const again = await makeVersion(1);
  t.is(again.liveCollection(countersProjection), 'counters@1.2');
  t.is(await requestRebuild(again, countersProjection, now), 3);
  await run(700, [again, newer]);
  t.deepEqual((await store.collections()).toSorted(), ['counters@1.2', 'counters@1.3', 'counters@2.1']);
});

test('a process that is taken for gone while it says that it is not ends at once', async (t) => {
  // Given a process that has been away for long, and says so again just as its version is dropped
  const { store, clock, makeVersion, run, newer } = await givenTwoVersions();
  let races = false;
  const late = await makeVersion(1, {
    readModelStore: {
      ...store,
      putRecord: async (...change) => {
        if (races) await run(100, [newer]);
        races = false;
        return store.putRecord(...change);
      },
    },
  });
  await run(590, [newer]);
  // When it is refused
  races = true;
  // Then it does not take itself for heard of
  await t.throwsAsync(late.tendVersions(), {
    instanceOf: StoreDamaged,
    message: /counters@1 .*start it again/,
  });
  t.deepEqual(await store.collections(), ['counters@2.1']);
  // and one that another process of its version was ahead of goes on.
  const [again, other] = [await makeVersion(1), await makeVersion(1)];
  await clock.advance(60_000);
  await Promise.all([again.tendVersions(), other.tendVersions()]);
  await t.notThrowsAsync(again.refresh());
});

test('a version that starts while it is being dropped builds a new generation', async (t) => {
  const { store, makeVersion, run, newer } = await givenTwoVersions();
  await run(590, [newer]);
  let drops = 0;
  const racing: ReadModelStore = {
    ...store,
    getRecord: async (name) => {
      const found = await store.getRecord(name);
      // Right after the process that starts has read that its version is in use.
      if (name === 'in-use/counters@1' && (drops += 1) === 1) await run(100, [newer]);
      return found;
    },
  };
  const started = await makeVersion(1, { readModelStore: racing });
  t.true(drops > 1);
  t.is(started.liveCollection(countersProjection), 'counters@1.2');
  await run(100, [started, newer]);
  t.deepEqual((await store.collections()).toSorted(), ['counters@1.2', 'counters@2.1']);
});

test('a process that could not look for a while watches ten minutes anew; one without such records is left alone', async (t) => {
  const { store, clock, run, newer } = await givenTwoVersions();
  await store.ensureCollection('counters@7.1', []);
  await run(500, [newer]);
  // Nobody could say anything meanwhile, neither the one nor the other.
  await clock.advance(3_600_000);
  await run(590, [newer]);
  t.true((await store.collections()).includes('counters@1.1'));
  await run(100, [newer]);
  t.deepEqual((await store.collections()).toSorted(), ['counters@2.1', 'counters@7.1']);
});

test('a version whose process says that it runs, just as it is to be dropped, stays', async (t) => {
  // Given a process that was not heard of for ten minutes
  const { store, makeVersion, run, older } = await givenTwoVersions();
  let comesBack = false;
  const looking = await makeVersion(2, {
    readModelStore: {
      ...store,
      getRecord: async (name) => {
        const found = await store.getRecord(name);
        if (comesBack && name === 'in-use/counters@1') {
          comesBack = false;
          await older.tendVersions();
        }
        return found;
      },
    },
  });
  await run(590, [looking]);
  // When it is heard of after another has looked, and before that one says that it is dropped
  comesBack = true;
  await run(100, [looking]);
  // Then it is not
  t.false(comesBack);
  t.deepEqual((await store.collections()).toSorted(), ['counters@1.1', 'counters@2.1']);
});

test('of a version that was dropped, a generation that was made since is there for whoever starts', async (t) => {
  // Given a process that was paused while it made a generation, and was taken for gone meanwhile
  const { store, clock, makeVersion, run, newer } = await givenTwoVersions();
  const paused = await makeVersion(1, {
    readModelStore: {
      ...store,
      ensureCollection: async (collection, indexes) => {
        if (collection === 'counters@1.2') await clock.sleep(720_000);
        await store.ensureCollection(collection, indexes);
      },
    },
  });
  const announcing = requestRebuild(paused, countersProjection, now);
  await run(710, [newer]);
  t.deepEqual(await store.collections(), ['counters@2.1']);
  // When it has made it, and others look again
  await run(100, [newer]);
  await announcing;
  // Then they leave it
  t.deepEqual((await store.collections()).toSorted(), ['counters@1.2', 'counters@2.1']);
  t.is((await makeVersion(1)).liveCollection(countersProjection), 'counters@1.2');
});

/** A process of a third version, beside `givenTwoVersions`, whose clock is set back by an hour after a minute. */
async function givenSetBack() {
  const scene = await givenTwoVersions();
  const { clock, makeVersion, run } = scene;
  let behindMs = 0;
  const own = { ...clock, now: () => new Date(clock.now().getTime() - behindMs) };
  const setBack = await makeVersion(3, { clock: own });
  await run(60, [setBack]);
  behindMs = 3_600_000;
  return { ...scene, setBack };
}

test('a process whose clock was set back goes on to say that it runs', async (t) => {
  const { store, run, newer, setBack } = await givenSetBack();
  await run(700, [newer, setBack]);
  t.deepEqual((await store.collections()).toSorted(), ['counters@2.1', 'counters@3.1']);
  await t.notThrowsAsync(setBack.refresh());
});

test('a process whose clock was set back drops what nobody has used for ten minutes since', async (t) => {
  const { store, run, setBack } = await givenSetBack();
  await run(590, [setBack]);
  t.is((await store.collections()).length, 3);
  await run(100, [setBack]);
  t.deepEqual(await store.collections(), ['counters@3.1']);
});

test('a process whose clock was set back hears that it was taken for gone', async (t) => {
  const { run, newer, setBack } = await givenSetBack();
  await run(700, [newer]);
  await t.throwsAsync(setBack.refresh(), {
    instanceOf: StoreDamaged,
    message: /counters@3 .*start it again/,
  });
});

test('a store that takes no writes does not keep a process from reading the registry', async (t) => {
  const { store, clock, makeProcess } = given();
  let full = false;
  const refusing: ReadModelStore = {
    ...store,
    putRecord: (...change) =>
      full ? Promise.reject(new StoreUnavailable('full')) : store.putRecord(...change),
  };
  const process = makeProcess(refusing);
  await process.start();
  full = true;
  await clock.advance(600_000);
  await t.throwsAsync(process.tendVersions(), { instanceOf: StoreUnavailable });
  await t.notThrowsAsync(process.refresh());
  t.is(process.liveCollection(countersProjection), 'counters@1.1');
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
      const waits = slow && name === record;
      const found = await store.getRecord(name);
      if (waits) await clock.sleep(500);
      return found;
    },
  });
  await process.start();
  slow = true;
  const overtaken = process.refresh();
  await clock.advance(0);
  slow = false;
  await requestRebuild(process, countersProjection, now);
  await clock.run(overtaken);
  t.deepEqual(process.fedCollections(countersProjection), ['counters@1.1', 'counters@1.2']);
});

test('how old a reading of the registry is counts from when it began', async (t) => {
  const { store, makeProcess, clock } = given();
  let slow = false;
  const process = makeProcess({
    ...store,
    getRecord: async (name) => {
      const found = await store.getRecord(name);
      if (slow && name === record) await clock.sleep(2_500);
      return found;
    },
  });
  await process.start();
  slow = true;
  await clock.run(process.refresh());
  t.is(process.liveCollection(countersProjection), 'counters@1.1');
  await clock.advance(600);
  t.throws(() => process.liveCollection(countersProjection), { instanceOf: StoreUnavailable });
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
