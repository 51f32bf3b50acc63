import type { ExecutionContext, TestFn } from 'ava';
import {
  documentBytes,
  maxDocumentBytes,
  type DocumentWrite,
  type ReadModelStore,
  type StoredDocument,
} from '../../src/event-sourcing/ports/read-model-store.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { DocumentTooLarge } from '../../src/event-sourcing/ports/errors.js';
import { canonical } from '../support/examples/canonical.js';
import { incrementalFold, wholeFold, type MakeReadModelStore } from '../support/clients/document-writes.js';

const view = 'users@1.1';

/** Tests guarded writes (src/event-sourcing/views/README.md#documents-and-guards). */
export function readModelWritesContract(test: TestFn, makeStore: MakeReadModelStore): void {
  const withView = async (t: ExecutionContext, ...given: readonly DocumentWrite[]) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    for (const write of given) t.deepEqual(await store.write(view, [write]), ['applied']);
    return store;
  };

  test.serial('A document that was never written is null', async (t) => {
    const store = await withView(t);
    t.is(await store.get(view, 'u1'), null);
  });

  test.serial('A fold of the whole stream applies where no document is stored', async (t) => {
    const store = await withView(t);
    t.deepEqual(await store.write(view, [wholeFold('u1', 3n, { name: 'Ada' })]), ['applied']);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 3n, body: { name: 'Ada' } });
  });

  test.serial('A fold of the whole stream applies over a lower revision', async (t) => {
    const store = await withView(t, wholeFold('u1', 3n, { name: 'Ada', nick: 'a' }));
    t.deepEqual(await store.write(view, [wholeFold('u1', 5n, { name: 'Ada L.' })]), ['applied']);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 5n, body: { name: 'Ada L.' } });
  });

  test.serial('A fold of the whole stream is refused over the same or a higher revision', async (t) => {
    const store = await withView(t, wholeFold('u1', 3n, { name: 'Ada' }));
    t.deepEqual(await store.write(view, [wholeFold('u1', 3n, { name: 'other' })]), ['refused']);
    t.deepEqual(await store.write(view, [wholeFold('u1', 2n, { name: 'older' })]), ['refused']);
    t.deepEqual(await store.write(view, [wholeFold('u1', 0n, null)]), ['refused']);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 3n, body: { name: 'Ada' } });
  });

  test.serial(
    'An incremental fold applies where the stored revision is the one that it was folded from',
    async (t) => {
      const store = await withView(t, wholeFold('u1', 3n, { name: 'Ada', nick: 'a' }));
      t.deepEqual(await store.write(view, [incrementalFold('u1', 3n, 4n, { name: 'Ada' })]), ['applied']);
      t.deepEqual(await store.write(view, [incrementalFold('u1', 4n, 9n, { name: 'A' })]), ['applied']);
      t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 9n, body: { name: 'A' } });
    },
  );

  test.serial(
    'An incremental fold is refused over an absent document, a lower revision and a higher revision',
    async (t) => {
      const store = await withView(t, wholeFold('low', 2n, { n: 2 }), wholeFold('high', 4n, { n: 4 }));
      const outcomes = await store.write(view, [
        incrementalFold('absent', 3n, 4n, { n: 9 }),
        incrementalFold('low', 3n, 4n, { n: 9 }),
        incrementalFold('high', 3n, 4n, { n: 9 }),
      ]);
      t.deepEqual(outcomes, ['refused', 'refused', 'refused']);
      t.is(await store.get(view, 'absent'), null);
      t.deepEqual(await store.get(view, 'low'), { id: 'low', revision: 2n, body: { n: 2 } });
      t.deepEqual(await store.get(view, 'high'), { id: 'high', revision: 4n, body: { n: 4 } });
    },
  );

  test.serial('A replay of all writes, in any order, changes nothing', async (t) => {
    const writes = [
      wholeFold('u1', 0n, { n: 0 }),
      incrementalFold('u1', 0n, 1n, { n: 1 }),
      wholeFold('u1', 5n, { n: 5 }),
      incrementalFold('u1', 5n, 6n, { n: 6 }),
    ];
    const store = await withView(t, ...writes);
    for (const write of [...writes, ...writes.toReversed()])
      t.deepEqual(await store.write(view, [write]), ['refused']);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 6n, body: { n: 6 } });
  });

  test.serial('A call returns the outcome of each write, in the order of the writes', async (t) => {
    const store = await withView(t, wholeFold('b', 1n, { n: 1 }), wholeFold('d', 7n, { n: 7 }));
    const outcomes = await store.write(view, [
      incrementalFold('d', 6n, 7n, { n: 0 }),
      wholeFold('z', 0n, { n: 0 }),
      incrementalFold('b', 1n, 2n, { n: 2 }),
      incrementalFold('a', 1n, 2n, { n: 2 }),
      wholeFold('c', 4n, null),
    ]);
    t.deepEqual(outcomes, ['refused', 'applied', 'applied', 'refused', 'applied']);
    t.deepEqual(await revisions(store, ['a', 'b', 'c', 'd', 'z']), { b: 2n, c: 4n, d: 7n, z: 0n });
  });

  test.serial('A call without writes does nothing', async (t) => {
    const store = await withView(t);
    t.deepEqual(await store.write(view, []), []);
  });

  test.serial(
    'A document that appears twice in one call is an error, and the call writes nothing',
    async (t) => {
      const store = await withView(t);
      await t.throwsAsync(
        store.write(view, [
          wholeFold('other', 0n, {}),
          wholeFold('u1', 0n, {}),
          incrementalFold('u1', 0n, 1n, {}),
        ]),
      );
      t.deepEqual(await store.scan(view, { limit: 10 }), []);
    },
  );

  test.serial('A batch of 300 is applied whole, and its repetition is refused whole', async (t) => {
    const store = await withView(t);
    const batch = Array.from({ length: 300 }, (_, n) => wholeFold(`u${n}`, BigInt(n), { n }));
    t.deepEqual(new Set(await store.write(view, batch)), new Set(['applied']));
    t.deepEqual(new Set(await store.write(view, batch.toReversed())), new Set(['refused']));
    const stored = await store.getMany(
      view,
      batch.map(({ document }) => document.id),
    );
    t.deepEqual(byId(stored), byId(batch.map(({ document }) => document)));
  });

  test.serial('A call with more bytes than one command of a server takes is applied whole', async (t) => {
    const store = await withView(t);
    const text = 'x'.repeat(300 * 1024);
    const batch = Array.from({ length: 60 }, (_, n) => wholeFold(`u${n}`, 1n, { n, text }));
    t.deepEqual(new Set(await store.write(view, batch)), new Set(['applied']));
    const mixed = [...batch.slice(0, 30), wholeFold('other', 1n, {}), ...batch.slice(30)];
    const outcomes = await store.write(view, mixed);
    t.deepEqual(
      outcomes,
      mixed.map(({ document }) => (document.id === 'other' ? 'applied' : 'refused')),
    );
    const ids = batch.map(({ document }) => document.id);
    t.is((await store.getMany(view, ids)).length, 60);
    t.is((await store.scan(view, { limit: 100 })).length, 61);
    t.is((await store.find(view, { limit: 61 })).length, 61);
  });

  test.serial(
    'The largest document is stored and read back, and a larger one is refused whole',
    async (t) => {
      const store = await withView(t, wholeFold('u1', 1n, { n: 1 }));
      const largest = bodyOf(maxDocumentBytes);
      t.deepEqual(await store.write(view, [wholeFold('u1', 2n, largest)]), ['applied']);
      t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 2n, body: largest });
      await t.throwsAsync(
        store.write(view, [wholeFold('u0', 1n, {}), wholeFold('u1', 3n, bodyOf(maxDocumentBytes + 1))]),
        {
          instanceOf: DocumentTooLarge,
          message: `the document u1 has ${maxDocumentBytes + 1} bytes, and a document may have ${maxDocumentBytes}; nothing was written`,
        },
      );
      t.deepEqual(await revisions(store, ['u0', 'u1']), { u1: 2n });
    },
  );

  test.serial('A tombstone stays, and no older write restores the document', async (t) => {
    const store = await withView(
      t,
      wholeFold('u1', 3n, { name: 'Ada' }),
      incrementalFold('u1', 3n, 4n, null),
    );
    const outcomes = [
      await store.write(view, [wholeFold('u1', 3n, { name: 'Ada' })]),
      await store.write(view, [wholeFold('u1', 4n, { name: 'Ada' })]),
      await store.write(view, [incrementalFold('u1', 2n, 3n, { name: 'Ada' })]),
      await store.write(view, [incrementalFold('u1', 3n, 4n, { name: 'Ada' })]),
    ];
    t.deepEqual(outcomes.flat(), ['refused', 'refused', 'refused', 'refused']);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 4n, body: null });
  });

  test.serial('A stream that continues after its tombstone has a body again', async (t) => {
    const store = await withView(t, wholeFold('u1', 4n, null));
    t.deepEqual(await store.write(view, [incrementalFold('u1', 4n, 5n, { name: 'B' })]), ['applied']);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 5n, body: { name: 'B' } });
  });

  test.serial('Of 50 concurrent incremental folds from one revision, exactly one is applied', async (t) => {
    const store = await withView(t, wholeFold('u1', 0n, { writer: -1 }));
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, writer) =>
        store.write(view, [incrementalFold('u1', 0n, 1n, { writer })]),
      ),
    );
    const winner = outcomes.flat().indexOf('applied');
    t.is(outcomes.flat().filter((outcome) => outcome === 'applied').length, 1);
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 1n, body: { writer: winner } });
  });

  test.serial('Concurrent folds of the whole stream end at the largest revision', async (t) => {
    const store = await withView(t);
    const shuffled = Array.from({ length: 40 }, (_, n) => (n * 17) % 40);
    await Promise.all(shuffled.map(async (n) => store.write(view, [wholeFold('u1', BigInt(n), { n })])));
    t.deepEqual(await store.get(view, 'u1'), { id: 'u1', revision: 39n, body: { n: 39 } });
  });

  test.serial('Concurrent batches of the same documents in different orders all end', async (t) => {
    const store = await withView(t);
    const ids = Array.from({ length: 60 }, (_, n) => `u${n}`);
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const order = writer % 2 === 0 ? ids : ids.toReversed();
        return store.write(
          view,
          order.map((id) => wholeFold(id, BigInt(writer), { writer })),
        );
      }),
    );
    const stored = await store.getMany(view, ids);
    t.is(stored.length, 60);
    t.true(stored.every(({ revision, body }) => revision === 7n && body?.['writer'] === 7));
  });

  test.serial(
    'Two projectors and a command that write the same streams end in the same documents',
    async (t) => {
      const store = await withView(t);
      const streams = Array.from({ length: 5 }, (_, n) => `s${n}`);
      const last = 11n;
      await Promise.all([
        ...streams.map(async (id) => followStream(store, id, 1n, last)),
        ...streams.map(async (id) => followStream(store, id, 3n, last)),
        ...streams.map(async (id) => store.write(view, [wholeFold(id, 7n, foldTo(7n))])),
      ]);
      const expected = streams.map((id) => ({ id, revision: last, body: foldTo(last) }));
      t.deepEqual(byId(await store.getMany(view, streams)), byId(expected));
    },
  );

  test.serial('Revisions are 64-bit integers', async (t) => {
    const store = await withView(t);
    const limit = 2n ** 53n;
    for (const revision of [0n, limit - 1n, limit, limit + 1n, 2n ** 63n - 1n]) {
      t.deepEqual(await store.write(view, [wholeFold('u1', revision, {})]), ['applied']);
      t.is((await store.get(view, 'u1'))?.revision, revision);
    }
    t.deepEqual(await store.write(view, [wholeFold('u2', limit, {})]), ['applied']);
    t.deepEqual(await store.write(view, [incrementalFold('u2', limit + 1n, limit + 2n, {})]), ['refused']);
    t.deepEqual(await store.write(view, [incrementalFold('u2', limit, limit + 1n, {})]), ['applied']);
    t.deepEqual(await store.write(view, [wholeFold('u2', limit, {})]), ['refused']);
    t.deepEqual(await revisions(store, ['u2']), { u2: limit + 1n });
  });

  test.serial('The change token is null, or differs after every change', async (t) => {
    const store = await withView(t);
    let before = store.changeToken(view);
    for (const write of [
      wholeFold('u1', 0n, {}),
      incrementalFold('u1', 0n, 1n, {}),
      wholeFold('u1', 4n, null),
    ]) {
      t.deepEqual(await store.write(view, [write]), ['applied']);
      const after = store.changeToken(view);
      t.true(after === null ? before === null : after !== before);
      before = after;
    }
  });
}

/** Returns a body of so many bytes. */
function bodyOf(bytes: number): JsonObject {
  const empty = { text: '', list: ['ä', 1, null, { on: true }] };
  return { ...empty, text: 'x'.repeat(bytes - documentBytes(empty)) };
}

/** Returns the body of a stream's fold at a revision. */
function foldTo(revision: bigint): JsonObject {
  return { events: Array.from({ length: Number(revision) + 1 }, (_, n) => n) };
}

/**
 * Follows one stream as a projector does, `step` events at a time: with incremental folds, and with a fold of the whole
 * stream after a refusal.
 */
async function followStream(store: ReadModelStore, id: string, step: bigint, last: bigint): Promise<void> {
  let seen = -1n;
  while (seen < last) {
    const stored = (await store.get(view, id))?.revision ?? null;
    const next = stored === null ? step - 1n : stored + step;
    const revision = next > last ? last : next;
    if (stored !== null && stored >= revision) return;
    const write =
      stored === null
        ? wholeFold(id, revision, foldTo(revision))
        : incrementalFold(id, stored, revision, foldTo(revision));
    const [outcome] = await store.write(view, [write]);
    if (outcome === 'refused') await store.write(view, [wholeFold(id, revision, foldTo(revision))]);
    seen = revision;
  }
}

async function revisions(store: ReadModelStore, ids: readonly string[]): Promise<Record<string, bigint>> {
  const stored = await store.getMany(view, ids);
  return Object.fromEntries(stored.map(({ id, revision }) => [id, revision]));
}

/** Returns documents as a comparable value that does not depend on their order. */
function byId(documents: readonly StoredDocument[]): string[] {
  return documents.map(({ id, revision, body }) => `${id} ${revision} ${canonical(body)}`).sort();
}
