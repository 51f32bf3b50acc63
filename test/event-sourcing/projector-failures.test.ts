import test from 'ava';
import { makeLoadOwnCheckpoint } from '../../src/event-sourcing/checkpoints.js';
import { StoreDamaged, StoreUnavailable, UndecodableEvent } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { storedDocuments } from './support/expected-documents.js';
import {
  collection,
  givenProjector,
  type Scene,
  thenDocumentsAreTheFold,
} from './support/given-projector.js';
import { writeCounters } from './support/write-counters.js';

test('an event that cannot be decoded stops the projection with its type and place, and is not passed', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const [example] = await scene.log.read('counter-c1', { limit: 1 });
  if (example === undefined) throw new Error('the counter was opened');
  const poison = { ...example, id: '00000000-0000-5000-8000-000000000001', type: 'CounterPainted' };
  await scene.log.append('counter-p1', 'no-stream', [{ ...poison, data: { colour: 'canary' } }]);
  await writeCounters(scene.log, { counters: 2, additions: 1, prefix: 'later' });
  const before = await scene.documents.loadCheckpoint(collection);
  for (let start = 0; start < 2; start += 1) {
    const error = await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: UndecodableEvent });
    t.regex(error.message, /CounterPainted .*counter-p1 at revision 0/);
    t.notRegex(error.message, /canary/);
    t.deepEqual(await scene.documents.loadCheckpoint(collection), before);
  }
  t.is(await scene.documents.get(collection, 'later1'), null, 'nothing after it is shown');
});

test("another log's checkpoint stops the projection with a sentence that says what to do", async (t) => {
  const scene = await givenProjector();
  await scene.documents.saveCheckpoint(collection, { logId: 'the other log', position: '000' });
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
    // The last event that was passed is there again, by its place and its id.
    await writeCounters(log, { counters: 5, additions: 3, more: true });
    await writeCounters(log, { counters: 20, additions: 2, prefix: 'other' });
  },
};

for (const [title, grow] of Object.entries(olderLogs)) {
  test(`an older log ${title} stops the projection with a sentence that says what to do`, async (t) => {
    // Given a view that has followed the log, and streams of others behind our last event
    const scene = await givenProjector();
    for (let count = 0; count < 3; count += 1) scene.log.appendForeign();
    await scene.catchUp();
    const checkpoint = await scene.documents.loadCheckpoint(collection);
    const documents = await storedDocuments(scene.documents, collection);
    // When the log is put back to what it was
    scene.log.restore(15);
    await grow(scene);
    const error = await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: StoreDamaged });
    // Then the view does not go on
    t.regex(error.message, /counters@1\.1 .*older one\. Restore .* or .* delete the read models/);
    t.deepEqual(await scene.documents.loadCheckpoint(collection), checkpoint);
    t.deepEqual(await storedDocuments(scene.documents, collection), documents);
  });
}

/** A log whose leader has changed: while `deposed` answers, its streams end where it heard of them last. */
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

test('a view that asks a leader which was replaced for what others have followed waits for the new one', async (t) => {
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

test('an event that stays missing for ten seconds was never there; another one in its place says so at once', async (t) => {
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

test('what is missing again counts from then', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const { eventStore, depose } = givenLeaders(scene.log);
  const deps = { eventStore, readModelStore: scene.documents, clock: scene.clock };
  const load = makeLoadOwnCheckpoint(deps, collection, 'the view');
  for (let time = 0; time < 3; time += 1) {
    depose(true);
    await t.throwsAsync(load(), { instanceOf: StoreUnavailable });
    await scene.clock.advance(9_000);
    await t.throwsAsync(load(), { instanceOf: StoreUnavailable });
    depose(false);
    t.truthy((await load()).checkpoint);
  }
});

test('a log that grew by nothing but streams of others is still the same', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  for (let start = 0; start < 3; start += 1) {
    for (let count = 0; count < 600; count += 1) scene.log.appendForeign();
    await scene.clock.advance(1_000);
    await t.notThrowsAsync(scene.catchUp());
    t.is((await scene.documents.loadCheckpoint(collection))?.position, (await scene.log.head()) ?? '');
  }
  // Also after those, the event that was passed before them is known.
  scene.log.restore(15);
  await writeCounters(scene.log, { counters: 400, additions: 5, prefix: 'other' });
  await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: StoreDamaged });
});

test('a store that is away is waited for, ever longer, and then the projector goes on', async (t) => {
  const scene = await givenProjector();
  let away = true;
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: (name, writes) =>
      away ? Promise.reject(new StoreUnavailable('no answer')) : scene.documents.write(name, writes),
  };
  const { stop, retries, progress } = scene.run({ readModelStore });
  await scene.clock.advance(60_000);
  t.true(retries.length >= 6 && retries.length < 60, `${retries.length} tries in a minute`);
  t.is(await scene.documents.loadCheckpoint(collection), null);
  away = false;
  await scene.clock.until(() => progress.at(-1)?.atHead === true, 10_000);
  await thenDocumentsAreTheFold(t, scene);
  await stop();
  t.is(scene.clock.sleepers, 0);
});

test('a last page whose write fails is written without another event', async (t) => {
  // A store that learns only from an empty page that the full one before it was the last.
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

test('a subscription that ends by itself is begun again after a wait', async (t) => {
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

test('subscriptions that fail after each page get somewhere all the same', async (t) => {
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

test('a projector that waits, or backs off, ends when it is told', async (t) => {
  const scene = await givenProjector();
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    loadCheckpoint: () => Promise.reject(new StoreUnavailable('no answer')),
  };
  const running = [scene.run(), scene.run({ readModelStore })];
  await scene.clock.advance(5_000);
  await Promise.all(running.map(({ stop }) => stop()));
  t.is(scene.clock.sleepers, 0);
});
