import test from 'ava';
import { StoreDamaged, StoreUnavailable, UndecodableEvent } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { storedDocuments } from './support/expected-documents.js';
import { collection, givenProjector, thenDocumentsAreTheFold } from './support/given-projector.js';
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
