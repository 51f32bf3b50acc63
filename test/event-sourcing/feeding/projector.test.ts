import test from 'ava';
import type { Position } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { countersProjection, writeCounters } from '../../support/kernel/counters.js';
import { foldOf, foldOfLog, storedDocuments } from '../../support/kernel/world.js';
import { collection, givenProjector, thenDocumentsAreTheFold } from '../../support/kernel/projectors.js';
import { watchReadModels } from '../../support/kernel/processes.js';
import {
  loadCheckpoint,
  makeSaveCheckpoint,
  recordsCollection,
} from '../../../src/event-sourcing/ports/records.js';
import { withRecordHooks } from '../../support/kernel/faulty-stores.js';

test('The documents are the fold of the log, including tombstones, and the checkpoint is its head', async (t) => {
  const scene = await givenProjector();
  const { progress } = await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
  const head = await scene.log.head();
  t.like(await loadCheckpoint(scene.documents, collection), {
    logId: await scene.log.logId(),
    position: head,
  });
  t.is(progress.at(-1)?.position, head);
  t.deepEqual(progress[0], { position: null, atHead: false, lastEventAt: null, quarantined: 0 });
  t.true((await storedDocuments(scene.documents, collection)).some(({ body }) => body === null));
  t.is(scene.clock.sleepers, 0);
});

test('A running projector handles later appends', async (t) => {
  const scene = await givenProjector();
  const { stop, progress } = scene.run();
  await scene.clock.advance(0);
  await writeCounters(scene.log, { counters: 3, additions: 2, prefix: 'later' });
  await scene.clock.advance(0);
  await thenDocumentsAreTheFold(t, scene);
  t.is(progress.at(-1)?.position, await scene.log.head());
  await stop();
});

test('The projector waits for a document that a command is writing, and does not write it again', async (t) => {
  // Given a projector at the head, and a command that still writes its documents when its events are in the log
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
  const { stop, progress } = scene.run({
    readModelStore,
    documentWriter: { settled: () => written, hasWritten: () => false },
  });
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

  // Then the projector finds the documents and continues
  t.is(writes, 0);
  t.is(progress.at(-1)?.position, await scene.log.head());
  await stop();
});

test('The projector writes a document that a command could not write', async (t) => {
  const scene = await givenProjector();
  const { stop } = scene.run({
    documentWriter: { settled: () => Promise.resolve(), hasWritten: () => false },
  });
  await scene.clock.advance(0);
  await thenDocumentsAreTheFold(t, scene);
  await stop();
});

/** Returns a store that has lost its checkpoint or kept an older one. */
function forgetful(documents: ReadModelStore, logId: string, position: Position | null): ReadModelStore {
  const body = { log_id: logId, position: position ?? '', fingerprint: null };
  const get: ReadModelStore['get'] = (name, id) =>
    name === recordsCollection
      ? Promise.resolve(position === null ? null : { id, revision: 1n, body })
      : documents.get(name, id);
  return withRecordHooks({ ...documents, get }, { save: () => Promise.resolve(['applied']) });
}

test('A replay from any position changes nothing and resurrects nothing', async (t) => {
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

test('A replay of a prefix under a log that ends there changes nothing', async (t) => {
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

test('A projector continues from its checkpoint', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const checkpoint = await loadCheckpoint(scene.documents, collection);
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

test('A document that lacks events before the checkpoint is folded from its whole stream', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  // Two documents are behind or missing, although the checkpoint has passed their events.
  const [first] = await scene.log.read('counter-c1', { limit: 1 });
  if (first === undefined) throw new Error('the counter has no event');
  const kept = await storedDocuments(scene.documents, collection);
  const checkpoint = await loadCheckpoint(scene.documents, collection);
  if (checkpoint === null) throw new Error('no checkpoint was saved');
  await scene.documents.dropCollection(collection);
  await scene.documents.ensureCollection(collection, []);
  await makeSaveCheckpoint(scene.documents, collection)(checkpoint);
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

test('A page leads to one write of each document', async (t) => {
  const scene = await givenProjector();
  const sizes: number[] = [];
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: (name, writes) => {
      if (name === collection) sizes.push(writes.length);
      return scene.documents.write(name, writes);
    },
  };
  await scene.catchUp({ readModelStore });
  t.deepEqual(sizes, [5]);
});

test('The later write wins when another writer stores a document between the read and the write', async (t) => {
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
    // This document is as late as the end of the page.
    final.find(({ id }) => id === 'c1'),
    // This one is later than the read document and earlier than the document to be written.
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

test('A checkpoint is saved only after its documents, and not with every page', async (t) => {
  const scene = await givenProjector(2_000);
  let checkpoints = 0;
  const readModelStore = withRecordHooks(scene.documents, {
    save: async (name, pass) => {
      checkpoints += 1;
      t.is((await storedDocuments(scene.documents, name)).length, 2_000);
      return pass();
    },
  });
  await scene.catchUp({ readModelStore });
  t.is(checkpoints, 1, 'twenty pages in less than a second');
});

test('A view that has caught up saves its checkpoint at once, because other processes wait for it', async (t) => {
  const scene = await givenProjector();
  const { stop } = scene.run({});
  await scene.clock.advance(500);
  t.is((await loadCheckpoint(scene.documents, collection))?.position, (await scene.log.head()) ?? '');
  await stop();
});

test('At the head, a view that does not change saves its checkpoint every ten seconds while the log moves', async (t) => {
  const scene = await givenProjector();
  const saved: number[] = [];
  const readModelStore = withRecordHooks(scene.documents, {
    save: (_, pass) => {
      saved.push(scene.clock.now().getTime());
      return pass();
    },
  });
  const { stop } = scene.run({ readModelStore });
  await scene.clock.advance(2_000);
  saved.length = 0;
  for (let second = 0; second < 60; second += 1) {
    scene.log.appendForeign();
    await scene.clock.advance(1_000);
  }
  t.true(saved.length >= 5 && saved.length <= 6, `${saved.length} checkpoints in a minute`);

  // When the log rests, the checkpoint reaches its end
  await scene.clock.advance(11_000);
  t.is((await loadCheckpoint(scene.documents, collection))?.position, (await scene.log.head()) ?? '');
  saved.length = 0;
  await scene.clock.advance(60_000);
  t.deepEqual(saved, []);
  await stop();
});

test('A view saves its checkpoint while the wall clock is set back', async (t) => {
  const scene = await givenProjector();
  const { stop } = scene.run({});
  await scene.clock.advance(2_000);
  // When an operator sets the clock back by an hour, and the log moves
  scene.clock.set(-3_600_000);
  scene.log.appendForeign();
  await scene.clock.advance(11_000);
  // Then
  t.is((await loadCheckpoint(scene.documents, collection))?.position, (await scene.log.head()) ?? '');
  await stop();
});

test('At the head, a view that changes saves its checkpoint at most once a second, and soon after the change', async (t) => {
  const scene = await givenProjector();
  let saved = 0;
  const readModelStore = withRecordHooks(scene.documents, {
    save: (_, pass) => {
      saved += 1;
      return pass();
    },
  });
  const { stop } = scene.run({ readModelStore });
  await scene.clock.advance(2_000);
  saved = 0;
  for (let n = 0; n < 50; n += 1) {
    await writeCounters(scene.log, { counters: 1, additions: 1, prefix: `later${n}-` });
    await scene.clock.advance(100);
  }
  t.true(saved >= 4 && saved <= 6, `${saved} checkpoints in five seconds`);
  await scene.clock.advance(1_000);
  t.is((await loadCheckpoint(scene.documents, collection))?.position, (await scene.log.head()) ?? '');
  await stop();
});

test('Refused documents are read in one call, and only those that are behind are folded on from there', async (t) => {
  // Given 60 documents that another writer has written up to the head, and 3 that it has written half
  const scene = await givenProjector(0);
  await writeCounters(scene.log, { counters: 63, additions: 4 });
  const { events } = await scene.log.readAll({ after: null, limit: 1_000 });
  const isBehind = (id: string): boolean => ['c1', 'c2', 'c3'].includes(id);
  const other = [
    ...foldOf(countersProjection, events).filter(({ id }) => !isBehind(id)),
    ...foldOf(
      countersProjection,
      events.filter(({ revision }) => revision <= 2n),
    ).filter(({ id }) => isBehind(id)),
  ];
  await scene.documents.write(
    collection,
    other.map((document) => ({ document, foldedFrom: 'whole-stream' as const })),
  );
  // When a projector whose reads were earlier loses all races
  const calls: string[] = [];
  let isEarly = true;
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    get: (name, id) => {
      if (name === collection) calls.push('get');
      return scene.documents.get(name, id);
    },
    getMany: (name, ids) => {
      if (isEarly) {
        isEarly = false;
        return Promise.resolve([]);
      }
      calls.push(`getMany ${ids.length}`);
      return scene.documents.getMany(name, ids);
    },
    write: async (name, writes) => {
      if (name === collection) calls.push(`write ${writes.length}`);
      if (writes.length < 10) return scene.documents.write(name, writes);
      // The other writer was faster with all of them.
      return writes.map(() => 'refused' as const);
    },
  };
  const reads: (readonly [string, bigint | undefined])[] = [];
  const eventStore: EventStore = {
    ...scene.log,
    read: (stream, options) => {
      reads.push([stream, options?.from]);
      return scene.log.read(stream, options);
    },
  };
  await scene.catchUp({ readModelStore, eventStore });

  // Then
  t.deepEqual(calls, ['write 63', 'getMany 63', 'write 3']);
  t.deepEqual(
    reads.map(([stream, from]) => `${stream} from ${from}`),
    ['counter-c1 from 3', 'counter-c2 from 3', 'counter-c3 from 3'],
  );
  await thenDocumentsAreTheFold(t, scene);
});

test('Before the head, documents of new streams are written without a read, and several pages share a write', async (t) => {
  const scene = await givenProjector(300);
  const calls: string[] = [];
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    getMany: (name, ids) => {
      calls.push('getMany');
      return scene.documents.getMany(name, ids);
    },
    write: (name, writes) => {
      if (name === collection) calls.push(`write ${writes.length}`);
      return scene.documents.write(name, writes);
    },
  };
  await scene.catchUp({ readModelStore });
  t.deepEqual(calls, ['write 300'], 'four pages');
  await thenDocumentsAreTheFold(t, scene);
});

test('The projector at the head does not write documents again that commands have written', async (t) => {
  const scene = await givenProjector();
  const outcomes: string[] = [];
  const readModelStore: ReadModelStore = {
    ...scene.documents,
    write: async (name, writes) => {
      const written = await scene.documents.write(name, writes);
      if (name === collection) outcomes.push(...written);
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
