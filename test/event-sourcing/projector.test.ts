import test from 'ava';
import type { Position } from '../../src/event-sourcing/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import { countersProjection } from '../support/counter-views.js';
import { foldOf, foldOfLog, storedDocuments } from './support/expected-documents.js';
import { collection, givenProjector, thenDocumentsAreTheFold } from './support/given-projector.js';
import { watchReadModels } from './support/watched-read-models.js';
import { writeCounters } from './support/write-counters.js';

test('the documents are the fold of the log, tombstones included, and the checkpoint is its head', async (t) => {
  const scene = await givenProjector();
  const { progress } = await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
  const head = await scene.log.head();
  t.like(await scene.documents.loadCheckpoint(collection), {
    logId: await scene.log.logId(),
    position: head,
  });
  t.is(progress.at(-1)?.position, head);
  t.deepEqual(progress[0], { position: null, atHead: false, lastEventAt: null });
  t.true((await storedDocuments(scene.documents, collection)).some(({ body }) => body === null));
  t.is(scene.clock.sleepers, 0);
});

test('a running projector takes what is appended', async (t) => {
  const scene = await givenProjector();
  const { stop, progress } = scene.run();
  await scene.clock.advance(0);
  await writeCounters(scene.log, { counters: 3, additions: 2, prefix: 'later' });
  await scene.clock.advance(0);
  await thenDocumentsAreTheFold(t, scene);
  t.is(progress.at(-1)?.position, await scene.log.head());
  await stop();
});

test('a document that a command is writing through is waited for, and not written a second time', async (t) => {
  // Given a projector at the head, and a command whose documents are still being written when its events are in the log
  const scene = await givenProjector();
  await scene.catchUp();
  let writes = 0;
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: (...write) => {
      writes += 1;
      return scene.documents.write(...write);
    },
  };
  let writeThrough = (): void => undefined;
  const written = new Promise<void>((resolve) => (writeThrough = resolve));
  const { stop, progress } = scene.run({ readModelStore, documentWriter: { settled: () => written } });
  await scene.clock.advance(0);
  await writeCounters(scene.log, { counters: 3, additions: 2, prefix: 'later' });
  await scene.clock.advance(0);
  t.is(writes, 0);

  // When the command has written them
  for (const document of await foldOfLog(scene.log, countersProjection)) {
    await scene.documents.write(collection, [{ document, foldedFrom: 'whole-stream' }]);
  }
  writeThrough();
  await scene.clock.advance(0);

  // Then the projector finds them, and goes on
  t.is(writes, 0);
  t.is(progress.at(-1)?.position, await scene.log.head());
  await stop();
});

test('a document that a command could not write through is written by the projector', async (t) => {
  const scene = await givenProjector();
  const { stop } = scene.run({ documentWriter: { settled: () => Promise.resolve() } });
  await scene.clock.advance(0);
  await thenDocumentsAreTheFold(t, scene);
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
  const scene = await givenProjector();
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
  const scene = await givenProjector();
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
  const scene = await givenProjector();
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
  const scene = await givenProjector();
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
  const scene = await givenProjector();
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
  const scene = await givenProjector();
  await scene.catchUp();
  await writeCounters(scene.log, { counters: 4, additions: 2, more: true });
  const final = await foldOfLog(scene.log, countersProjection);
  const before = await storedDocuments(scene.documents, collection);
  const { events } = await scene.log.readAll({ after: null, limit: 1_000 });
  const halfway = foldOf(
    countersProjection,
    events.filter(({ revision }) => revision <= 5n),
  );
  const others = [
    // As far as this page.
    final.find(({ id }) => id === 'c1'),
    // Further than what was read, and not as far as what will be written.
    halfway.find(({ id }) => id === 'c2'),
  ].filter((document) => document !== undefined);
  t.deepEqual(
    [...before, ...others].filter(({ id }) => id === 'c1' || id === 'c2').map(({ revision }) => revision),
    [4n, 4n, 6n, 5n],
  );
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
  const scene = await givenProjector(2_000);
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
  const scene = await givenProjector();
  const { stop } = scene.run();
  await scene.clock.advance(0);
  await writeCounters(scene.log, { counters: 1, additions: 1, category: 'other' });
  await scene.clock.advance(0);
  const before = await scene.documents.loadCheckpoint(collection);
  t.true((before?.position ?? '') < ((await scene.log.head()) ?? ''));
  await scene.clock.advance(1_000);
  await writeCounters(scene.log, { counters: 1, additions: 0, category: 'another' });
  await scene.clock.advance(0);
  t.like(await scene.documents.loadCheckpoint(collection), {
    logId: await scene.log.logId(),
    position: await scene.log.head(),
  });
  await thenDocumentsAreTheFold(t, scene);
  await stop();
});

test('at the head, what commands wrote first is not written again', async (t) => {
  const scene = await givenProjector();
  const outcomes: string[] = [];
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: async (name, writes) => {
      const written = await scene.documents.write(name, writes);
      outcomes.push(...written);
      return written;
    },
  };
  const eventStore: EventStore = {
    ...scene.log,
    subscribe: async function* (options) {
      for await (const page of scene.log.subscribe(options)) {
        await scene.clock.sleep(10);
        yield page;
      }
    },
  };
  const { stop } = scene.run({ eventStore, readModelStore });
  await scene.clock.advance(100);
  outcomes.length = 0;
  for (let n = 0; n < 3; n += 1) {
    await writeCounters(scene.log, { counters: 3, additions: 1, more: true });
    const after = await foldOfLog(scene.log, countersProjection);
    await scene.documents.write(
      collection,
      after.map((document) => ({ document, foldedFrom: 'whole-stream' as const })),
    );
    await scene.clock.advance(100);
  }
  t.deepEqual(outcomes, []);
  await stop();
});
