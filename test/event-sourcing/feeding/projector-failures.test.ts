import test from 'ava';
import { makeLoadOwnCheckpoint } from '../../../src/event-sourcing/feeding/checkpoints.js';
import { StoreDamaged, StoreUnavailable, StreamDamaged } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { storedDocuments } from '../../support/kernel/world.js';
import {
  collection,
  givenProjector,
  type Scene,
  thenDocumentsAreTheFold,
} from '../../support/kernel/projectors.js';
import { writeCounters } from '../../support/kernel/counters.js';
import { loadCheckpoint, makeSaveCheckpoint } from '../../../src/event-sourcing/ports/records.js';
import { withRecordHooks } from '../../support/kernel/faulty-stores.js';

test('The checkpoint of another log stops the projection with an instruction', async (t) => {
  const scene = await givenProjector();
  await makeSaveCheckpoint(scene.documents, collection)({ logId: 'the other log', position: '000' });
  const error = await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: StoreDamaged });
  t.regex(error.message, /the other log.*configure the log it belongs to, or delete the read models/);
  t.deepEqual(await storedDocuments(scene.documents, collection), []);
});

const olderLogs: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'that is shorter': () => Promise.resolve(),
  'that has grown since by other events': ({ log }) =>
    writeCounters(log, { counters: 20, additions: 2, prefix: 'other' }),
  'that has grown since by the same commands': async ({ clock, log }) => {
    await clock.advance(1_000);
    // The last passed event exists again, with the same position and id.
    await writeCounters(log, { counters: 5, additions: 3, more: true });
    await writeCounters(log, { counters: 20, additions: 2, prefix: 'other' });
  },
};

for (const [title, grow] of Object.entries(olderLogs)) {
  test(`An older log ${title} stops the projection with an instruction`, async (t) => {
    // Given a view that has followed the log, and foreign streams after our last event
    const scene = await givenProjector();
    for (let count = 0; count < 3; count += 1) scene.log.appendForeign();
    await scene.catchUp();
    const checkpoint = await loadCheckpoint(scene.documents, collection);
    const documents = await storedDocuments(scene.documents, collection);
    // When the log is restored to an earlier length
    scene.log.restore(15);
    await grow(scene);
    const error = await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: StoreDamaged });
    // Then the view does not continue
    t.regex(error.message, /counters@1\.1 .*older one\. Restore .* or .* delete the read models/);
    t.deepEqual(await loadCheckpoint(scene.documents, collection), checkpoint);
    t.deepEqual(await storedDocuments(scene.documents, collection), documents);
  });
}

/** Returns a log whose leader changes. While `deposed` answers, its streams end at the last event that it received. */
function givenLeaders(log: Scene['log']) {
  let deposed = false;
  const eventStore: EventStore = {
    ...log,
    shortLogMs: 10_000,
    read: (...asked) => (deposed ? Promise.resolve([]) : log.read(...asked)),
  };
  return {
    eventStore,
    depose: (is: boolean) => {
      deposed = is;
    },
  };
}

test('A view that reads from a replaced leader waits for the new one', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const { eventStore, depose } = givenLeaders(scene.log);
  depose(true);
  const { stop, retries, progress } = scene.run({ eventStore });
  await scene.clock.advance(9_000);
  t.true(retries.length > 0);
  for (const retry of retries) t.regex(retry, /counters@1\.1 has passed an event .* does not hold$/);
  depose(false);
  await scene.clock.until(() => progress.at(-1)?.atHead === true, 20_000);
  await stop();
  await thenDocumentsAreTheFold(t, scene);
});

test('An event that is missing for ten seconds stops the view, and another event at its position stops it at once', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const { eventStore, depose } = givenLeaders(scene.log);
  depose(true);
  const missing = scene.run({ eventStore });
  const from = scene.clock.now().getTime();
  await t.throwsAsync(scene.clock.run(missing.ended), { instanceOf: StoreDamaged, message: /older one/ });
  t.true(scene.clock.now().getTime() - from >= 10_000);
  depose(false);
  scene.log.restore(15);
  await scene.clock.advance(1_000);
  await writeCounters(scene.log, { counters: 5, additions: 3, more: true });
  const replaced = scene.run({ eventStore });
  await t.throwsAsync(scene.clock.run(replaced.ended), { instanceOf: StoreDamaged, message: /another one/ });
  t.deepEqual(replaced.retries, []);
});

test('The wait for a missing event starts over when the event is missing again', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const { eventStore, depose } = givenLeaders(scene.log);
  const read = () => loadCheckpoint(scene.documents, collection);
  const load = makeLoadOwnCheckpoint({ eventStore, load: read, clock: scene.clock }, 'the view');
  for (let time = 0; time < 3; time += 1) {
    depose(true);
    await t.throwsAsync(load(), { instanceOf: StoreUnavailable });
    await scene.clock.advance(9_000);
    await t.throwsAsync(load(), { instanceOf: StoreUnavailable });
    depose(false);
    t.truthy((await load()).checkpoint);
  }
});

for (const [what, isLost] of [
  ['lost its first events', () => true],
  // A read after the last event of such a stream finds none, as at the head of a whole one.
  ['lost all of its events', (from: bigint) => from === 0n],
] as const) {
  test(`A view starts where its checkpoint names an event of a stream that ${what}`, async (t) => {
    const scene = await givenProjector();
    await scene.catchUp();
    const { events } = await scene.log.readAll({ after: null, limit: 1_000 });
    const damaged = events.at(-1)?.stream ?? t.fail();
    const eventStore: EventStore = {
      ...scene.log,
      read: (stream, options = {}) => {
        if (stream !== damaged) return scene.log.read(stream, options);
        const { from = 0n } = options;
        return isLost(from)
          ? Promise.reject(new StreamDamaged(damaged, 'the server has removed events'))
          : Promise.resolve([]);
      },
    };
    await writeCounters(scene.log, { counters: 2, additions: 1, prefix: 'later' });
    const { progress } = await scene.catchUp({ eventStore });
    t.is(progress.at(-1)?.position, await scene.log.head());
    t.is((await scene.documents.get(collection, 'later1'))?.revision, 1n);
  });
}

test('A log that grew only by foreign streams is still the same log', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  for (let start = 0; start < 3; start += 1) {
    for (let count = 0; count < 600; count += 1) scene.log.appendForeign();
    await scene.clock.advance(1_000);
    await t.notThrowsAsync(scene.catchUp());
    t.is((await loadCheckpoint(scene.documents, collection))?.position, (await scene.log.head()) ?? '');
  }
  // The view still knows the event that it passed before the foreign streams.
  scene.log.restore(15);
  await writeCounters(scene.log, { counters: 400, additions: 5, prefix: 'other' });
  await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: StoreDamaged });
});

test('A projector waits longer and longer for a store that is away, and then continues', async (t) => {
  const scene = await givenProjector();
  let away = true;
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: (name, writes) =>
      away ? Promise.reject(new StoreUnavailable('no answer')) : scene.documents.write(name, writes),
  };
  const { stop, retries, progress } = scene.run({ readModelStore });
  await scene.clock.advance(60_000);
  t.true(retries.length >= 6 && retries.length < 60, `${retries.length} attempts in a minute`);
  t.is(await loadCheckpoint(scene.documents, collection), null);
  away = false;
  await scene.clock.until(() => progress.at(-1)?.atHead === true, 10_000);
  await thenDocumentsAreTheFold(t, scene);
  await stop();
  t.is(scene.clock.sleepers, 0);
});

test('A last page whose write fails is written without another event', async (t) => {
  // This store only learns from an empty page that the full page before it was the last.
  const scene = await givenProjector(100);
  let failures = 1;
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: (name, writes) => {
      failures -= 1;
      return failures >= 0
        ? Promise.reject(new StoreUnavailable('no answer'))
        : scene.documents.write(name, writes);
    },
  };
  t.is((await scene.log.readAll({ after: null, limit: 500 })).events.length, 500);
  await scene.catchUp({ readModelStore });
  await thenDocumentsAreTheFold(t, scene);
});

test('A subscription that ends by itself is started again after a wait', async (t) => {
  const scene = await givenProjector();
  let subscriptions = 0;
  const eventStore: EventStore = {
    ...scene.log,
    subscribe: async function* ({ after }) {
      subscriptions += 1;
      yield await scene.log.readAll({ after, limit: 3 });
    },
  };
  const { stop } = scene.run({ eventStore });
  await scene.clock.advance(60_000);
  t.true(subscriptions > 10 && subscriptions < 1_000, `${subscriptions} subscriptions in a minute`);
  await thenDocumentsAreTheFold(t, scene);
  await stop();
});

test('Subscriptions that fail after each page still make progress', async (t) => {
  const scene = await givenProjector();
  const eventStore: EventStore = {
    ...scene.log,
    subscribe: async function* ({ after }) {
      yield await scene.log.readAll({ after, limit: 3 });
      throw new StoreUnavailable('no answer');
    },
  };
  const { stop } = scene.run({ eventStore });
  await scene.clock.advance(60_000);
  await thenDocumentsAreTheFold(t, scene);
  await stop();
});

test('A projector that waits or backs off ends when it is stopped', async (t) => {
  const scene = await givenProjector();
  const readModelStore = withRecordHooks(scene.documents, {
    read: () => Promise.reject(new StoreUnavailable('no answer')),
  });
  const running = [scene.run(), scene.run({ readModelStore })];
  await scene.clock.advance(5_000);
  await Promise.all(running.map(({ stop }) => stop()));
  t.is(scene.clock.sleepers, 0);
});
