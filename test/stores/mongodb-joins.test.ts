/* Counts the commands that joins and sums send, on a server that answers as the test's script says. */
import test, { type ExecutionContext } from 'ava';
import type { Document } from 'mongodb';

import { openMongoDbStores } from '../../src/stores/mongodb/open-mongodb-stores.js';
import { makeFakeMongoDb, nothingFound } from '../support/fakes/fake-mongodb.js';
import { realClock } from '../support/fakes/clock.js';

const batchOf = (...firstBatch: Document[]): Document => ({
  ok: 1,
  cursor: { id: 0n, ns: 'stowage.any', firstBatch },
});

async function given(t: ExecutionContext, answer: (command: Document) => Document) {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const limits = { openMs: 60_000, readMs: 60_000, writeMs: 60_000, indexMs: 60_000 };
  const { readModelStore, close } = await openMongoDbStores({
    ...{ clock: realClock, random: Math.random, limits, url: server.url },
  });
  t.teardown(close);
  server.received.length = 0;
  server.script = (command) =>
    'aggregate' in command ? answer(command) : 'find' in command ? nothingFound : { ok: 1, n: 1 };
  const sent = () =>
    server.received.flatMap((command) =>
      'aggregate' in command || 'find' in command ? [String(command['aggregate'] ?? command['find'])] : [],
    );
  return { store: readModelStore, sent };
}

const names = ['sessions@2.1', 'users@3.1', 'projects@3.1'].map((collection, n) => ({
  collection,
  id: `id${n}`,
}));

test('Documents of three collections arrive in one command', async (t) => {
  const stored = (n: number) => ({ _id: `id${n}`, revision: BigInt(n), body: { n } });
  const { store, sent } = await given(t, () =>
    batchOf({ found0: stored(0), found1: [stored(1)], found2: [] }),
  );
  t.deepEqual(await store.getEach(names), [
    { id: 'id0', revision: 0n, body: { n: 0 } },
    { id: 'id1', revision: 1n, body: { n: 1 } },
    null,
  ]);
  t.deepEqual(sent(), ['view.sessions@2.1']);
});

test('Where the first document is absent, the others arrive in a second command', async (t) => {
  const { store, sent } = await given(t, () => nothingFound);
  t.deepEqual(await store.getEach(names), [null, null, null]);
  t.deepEqual(sent(), ['view.sessions@2.1', 'view.users@3.1', 'view.projects@3.1']);
});

test('A sum over 2,001 projects is one command, and owners with more documents than it sums are continued', async (t) => {
  const owned = Array.from({ length: 2_001 }, (_, n) => ({
    _id: `p${n}`,
    sums: n % 2 === 0 ? [] : [{ count: 1, last: 'a', sum: n }],
  }));
  const many = { _id: 'p9999', sums: [{ count: 5_000, last: 'a4999', sum: 7n }] };
  const replies = [
    batchOf(...owned, many),
    batchOf({ _id: 'p9999', sums: [{ count: 2, last: 'b', sum: 5 }] }),
  ];
  const batches: unknown[] = [];
  const { store, sent } = await given(t, ({ cursor }) => {
    batches.push((cursor as Document)['batchSize']);
    return replies.shift() ?? nothingFound;
  });
  const owners = {
    ...{ collection: 'projects@3.1', list: 'members' },
    indexed: { field: 'user_id', equals: 'ada' },
    and: { field: 'role', equals: 'owner' },
  };
  const query = { by: 'project_id', field: 'size', owners };
  const first = await store.sum('assets@1.1', query);
  t.is(first.sum, 1_000n * 1_000n + 7n);
  t.deepEqual(batches, [5_001], 'the server sends all owners in one batch');
  t.deepEqual(sent(), ['view.projects@3.1']);
  t.deepEqual(await store.sum('assets@1.1', { ...query, after: first.after ?? '' }), {
    sum: 5n,
    after: null,
  });
});
