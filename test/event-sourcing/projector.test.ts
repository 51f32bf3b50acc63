import test, { type ExecutionContext } from 'ava';
import type { Position } from '../../src/event-sourcing/domain-event.js';
import { StoreDamaged, StoreUnavailable, UndecodableEvent } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { type ProjectorProgress, runProjector } from '../../src/event-sourcing/projector.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { makeSeededRandom } from '../support/clock.js';
import { countersProjection } from '../support/counter-views.js';
import { makeMemoryEventStore } from '../support/memory-event-store.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { foldOfLog, storedDocuments } from './support/expected-documents.js';
import { writeCounters } from './support/write-counters.js';
import { makeVirtualClock, type VirtualClock } from './support/virtual-clock.js';
import { watchReadModels } from './support/watched-read-models.js';

const collection = 'counters@1.1';

interface Running {
  readonly progress: ProjectorProgress[];
  readonly retries: string[];
  readonly stop: () => Promise<void>;
  /** Ends when the projector does. */
  readonly ended: Promise<void>;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly log: EventStore;
  readonly documents: ReadModelStore;
  readonly run: (stores?: {
    readonly eventStore?: EventStore;
    readonly readModelStore?: ReadModelStore;
  }) => Running;
  /** Runs a projector until it has come to the head, and ends it. */
  readonly catchUp: (stores?: Parameters<Scene['run']>[0]) => Promise<Running>;
}

/** A log of some counters, and a collection that has seen none of it. */
async function given(counters = 5): Promise<Scene> {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const log = makeMemoryEventStore({ clock, random });
  const documents = makeMemoryReadModelStore();
  await documents.ensureCollection(collection, countersProjection.indexes);
  await writeCounters(log, { counters, additions: 4 });
  const run: Scene['run'] = ({ eventStore = log, readModelStore = documents } = {}) => {
    const controller = new AbortController();
    const progress: ProjectorProgress[] = [];
    const retries: string[] = [];
    const ended = runProjector(
      { eventStore, readModelStore, clock, random },
      { projection: countersProjection, collection },
      {
        signal: controller.signal,
        onProgress: (now) => progress.push(now),
        onRetry: (error) => retries.push(error.message),
      },
    );
    const stop = async (): Promise<void> => {
      controller.abort();
      await clock.run(ended);
    };
    return { progress, retries, ended, stop };
  };
  return {
    clock,
    log,
    documents,
    run,
    catchUp: async (stores) => {
      const running = run(stores);
      // A projector that stops by itself is the test's to look at.
      running.ended.catch(() => undefined);
      await clock.until(() => running.progress.at(-1)?.atHead === true);
      await running.stop();
      return running;
    },
  };
}

async function thenDocumentsAreTheFold(t: ExecutionContext, { log, documents }: Scene): Promise<void> {
  t.deepEqual(await storedDocuments(documents, collection), await foldOfLog(log, countersProjection));
}

test('the documents are the fold of the log, tombstones included, and the checkpoint is its head', async (t) => {
  const scene = await given();
  const { progress } = await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
  const head = await scene.log.head();
  t.deepEqual(await scene.documents.loadCheckpoint(collection), {
    logId: await scene.log.logId(),
    position: head,
  });
  t.is(progress.at(-1)?.position, head);
  t.deepEqual(progress[0], { position: null, atHead: false, lastEventAt: null });
  t.true((await storedDocuments(scene.documents, collection)).some(({ body }) => body === null));
  t.is(scene.clock.sleepers, 0);
});

test('a running projector takes what is appended', async (t) => {
  const scene = await given();
  const { stop, progress } = scene.run();
  await scene.clock.advance(0);
  await writeCounters(scene.log, { counters: 3, additions: 2, prefix: 'later' });
  await scene.clock.advance(0);
  await thenDocumentsAreTheFold(t, scene);
  t.is(progress.at(-1)?.position, await scene.log.head());
  await stop();
});

/** A store that has lost its checkpoint, or kept an older one. */
function forgetful(documents: ReadModelStore, logId: string, position: Position | null): ReadModelStore {
  return {
    ...documents,
    loadCheckpoint: () => Promise.resolve(position === null ? null : { logId, position }),
  };
}

test('replay from anywhere changes nothing and resurrects nothing', async (t) => {
  const scene = await given();
  await scene.catchUp();
  const before = await storedDocuments(scene.documents, collection);
  const { events } = await scene.log.readAll({ after: null, limit: 1_000 });
  const logId = await scene.log.logId();
  for (const position of [null, ...events.map((event) => event.position)]) {
    const watched = watchReadModels(
      forgetful(scene.documents, logId, position),
      { log: scene.log, projections: [countersProjection] },
      (error) => t.fail(error.message),
    );
    await scene.catchUp({ readModelStore: watched.store });
    t.is(watched.applied(), 0);
  }
  t.deepEqual(await storedDocuments(scene.documents, collection), before);
});

test('replay of a prefix under a log that ends there changes nothing', async (t) => {
  const scene = await given();
  await scene.catchUp();
  const before = await storedDocuments(scene.documents, collection);
  const length = (await scene.log.readAll({ after: null, limit: 1_000 })).events.length;
  for (let end = 0; end <= length; end += 1) {
    const prefix: EventStore = {
      ...scene.log,
      subscribe: async function* () {
        yield { ...(await scene.log.readAll({ after: null, limit: end })), atHead: true };
      },
    };
    await scene.catchUp({ eventStore: prefix, readModelStore: forgetful(scene.documents, '', null) });
  }
  t.deepEqual(await storedDocuments(scene.documents, collection), before);
});

test('a projector goes on from the checkpoint', async (t) => {
  const scene = await given();
  await scene.catchUp();
  const checkpoint = await scene.documents.loadCheckpoint(collection);
  await writeCounters(scene.log, { counters: 2, additions: 1, prefix: 'later' });
  const asked: (Position | null)[] = [];
  const eventStore: EventStore = {
    ...scene.log,
    subscribe: (options) => {
      asked.push(options.after);
      return scene.log.subscribe(options);
    },
  };
  await scene.catchUp({ eventStore });
  t.deepEqual(asked, [checkpoint?.position ?? null]);
  await thenDocumentsAreTheFold(t, scene);
});

test('a document that lacks events before the checkpoint is folded from its whole stream', async (t) => {
  const scene = await given();
  await scene.catchUp();
  // Two documents are behind or gone, though the checkpoint has passed them.
  const [first] = await scene.log.read('counter-c1', { limit: 1 });
  if (first === undefined) throw new Error('the counter was opened');
  const kept = await storedDocuments(scene.documents, collection);
  const checkpoint = await scene.documents.loadCheckpoint(collection);
  if (checkpoint === null) throw new Error('a checkpoint was saved');
  await scene.documents.dropCollection(collection);
  await scene.documents.ensureCollection(collection, []);
  await scene.documents.saveCheckpoint(collection, checkpoint);
  const opened = countersProjection.evolve(null, countersProjection.codec.decode(first));
  await scene.documents.write(
    collection,
    [...kept.filter(({ id }) => id !== 'c1' && id !== 'c3'), { id: 'c1', revision: 0n, body: opened }].map(
      (document) => ({ document, foldedFrom: 'whole-stream' as const }),
    ),
  );
  await writeCounters(scene.log, { counters: 4, additions: 1, more: true });
  await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
});

test('one page makes one write of each document', async (t) => {
  const scene = await given();
  const sizes: number[] = [];
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: (name, writes) => {
      sizes.push(writes.length);
      return scene.documents.write(name, writes);
    },
  };
  await scene.catchUp({ readModelStore });
  t.deepEqual(sizes, [5]);
});

test('a document that somebody else writes between reading and writing is left to the later of both', async (t) => {
  const scene = await given();
  await scene.catchUp();
  await writeCounters(scene.log, { counters: 4, additions: 2, more: true });
  const final = await foldOfLog(scene.log, countersProjection);
  const before = await storedDocuments(scene.documents, collection);
  const others = [
    // Further than this page.
    final.find(({ id }) => id === 'c1'),
    // Not so far.
    before.find(({ id }) => id === 'c2'),
  ].filter((document) => document !== undefined);
  let interrupted = 0;
  const foldedFrom: (bigint | string)[] = [];
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: async (name, writes) => {
      interrupted += 1;
      if (interrupted === 1) {
        await scene.documents.write(
          name,
          others.map((document) => ({ document, foldedFrom: 'whole-stream' as const })),
        );
      }
      foldedFrom.push(...writes.map((write) => write.foldedFrom));
      return scene.documents.write(name, writes);
    },
  };
  await scene.catchUp({ readModelStore });
  await thenDocumentsAreTheFold(t, scene);
  t.true(foldedFrom.some((from) => typeof from === 'bigint'));
});

test('a checkpoint is saved only when its documents are stored, and not with every page', async (t) => {
  const scene = await given(2_000);
  let checkpoints = 0;
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    saveCheckpoint: async (name, checkpoint) => {
      checkpoints += 1;
      t.is((await storedDocuments(scene.documents, name)).length, 2_000);
      await scene.documents.saveCheckpoint(name, checkpoint);
    },
  };
  await scene.catchUp({ readModelStore });
  t.is(checkpoints, 1, 'twenty pages in less than a second');
});

test('streams of others move the checkpoint, at most once a second', async (t) => {
  const scene = await given();
  const { stop } = scene.run();
  await scene.clock.advance(0);
  await writeCounters(scene.log, { counters: 1, additions: 1, category: 'other' });
  await scene.clock.advance(0);
  const before = await scene.documents.loadCheckpoint(collection);
  t.true((before?.position ?? '') < ((await scene.log.head()) ?? ''));
  await scene.clock.advance(1_000);
  await writeCounters(scene.log, { counters: 1, additions: 1, category: 'another' });
  await scene.clock.advance(0);
  t.deepEqual(await scene.documents.loadCheckpoint(collection), {
    logId: await scene.log.logId(),
    position: await scene.log.head(),
  });
  await thenDocumentsAreTheFold(t, scene);
  await stop();
});

test('an event that cannot be decoded stops the projection with its type and place, and is not passed', async (t) => {
  const scene = await given();
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
  const scene = await given();
  await scene.documents.saveCheckpoint(collection, { logId: 'the other log', position: '000' });
  const error = await t.throwsAsync(scene.clock.run(scene.run().ended), { instanceOf: StoreDamaged });
  t.regex(error.message, /the other log.*configure the log it belongs to, or delete the read models/);
  t.deepEqual(await storedDocuments(scene.documents, collection), []);
});

test('a store that is away is waited for, ever longer, and then the projector goes on', async (t) => {
  const scene = await given();
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
  const scene = await given(100);
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
  const scene = await given();
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

test('a projector that waits, or backs off, ends when it is told', async (t) => {
  const scene = await given();
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    loadCheckpoint: () => Promise.reject(new StoreUnavailable('no answer')),
  };
  const running = [scene.run(), scene.run({ readModelStore })];
  await scene.clock.advance(5_000);
  await Promise.all(running.map(({ stop }) => stop()));
  t.is(scene.clock.sleepers, 0);
});
