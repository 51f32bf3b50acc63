/* Counts the commands that joins and reads of ids send, on a server that answers as the test's script says. */
import test, { type ExecutionContext } from 'ava';
import type { Document } from 'mongodb';

import { openMongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { makeFakeMongoDb, nothingFound } from '../../support/fakes/fake-mongodb.js';
import { realClock } from '../../support/fakes/clock.js';

const batchOf = (...firstBatch: Document[]): Document => ({
  ok: 1,
  cursor: { id: 0n, ns: 'stowage.any', firstBatch },
});

async function given(
  t: ExecutionContext,
  answer: (command: Document) => Document,
  onFind: (command: Document) => Document = () => nothingFound,
) {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const limits = { openMs: 600_000, readMs: 600_000, writeMs: 600_000, indexMs: 600_000 };
  const { readModelStore, close } = await openMongoDbStores({
    ...{ clock: realClock, random: Math.random, limits, url: server.url },
  });
  t.teardown(close);
  server.received.length = 0;
  server.script = (command) => {
    if ('find' in command) return onFind(command);
    return 'aggregate' in command ? answer(command) : { ok: 1, n: 1 };
  };
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

const beyondOneReply: Document = { ok: 1, cursor: { id: 7n, ns: 'stowage.any', firstBatch: [] } };

test('Documents that exceed one reply together arrive in a command each', async (t) => {
  const { store, sent } = await given(t, () => beyondOneReply);
  t.deepEqual(await store.getEach(names), [null, null, null]);
  t.deepEqual(sent(), ['view.sessions@2.1', ...['view.sessions@2.1', 'view.users@3.1', 'view.projects@3.1']]);
});

test('Selected ids arrive with their documents of another collection in one command', async (t) => {
  const total = { _id: 'p2', revision: 3n, body: { bytes: '7' } };
  const { store, sent } = await given(t, () =>
    batchOf({ _id: 'p1', joined: [] }, { _id: 'p2', joined: [total] }),
  );
  const where = { field: 'billed_to', equals: 'ada' };
  t.deepEqual(await store.getSelected?.('usage@1.1', { from: 'projects@4.1', where, limit: 200 }), {
    ids: ['p1', 'p2'],
    documents: [{ id: 'p2', revision: 3n, body: { bytes: '7' } }],
  });
  t.deepEqual(sent(), ['view.projects@4.1']);
});

test('Selected documents that exceed one reply are read by their ids', async (t) => {
  const total = { _id: 'p1', revision: 3n, body: { bytes: '7' } };
  const { store, sent } = await given(
    t,
    () => beyondOneReply,
    ({ find }) => batchOf(find === 'view.projects@4.1' ? { _id: 'p1' } : total),
  );
  const where = { field: 'billed_to', equals: 'ada' };
  t.deepEqual(await store.getSelected?.('usage@1.1', { from: 'projects@4.1', where, limit: 200 }), {
    ids: ['p1'],
    documents: [{ id: 'p1', revision: 3n, body: { bytes: '7' } }],
  });
  t.deepEqual(sent(), ['view.projects@4.1', 'view.projects@4.1', 'view.usage@1.1']);
});

test('The ids of documents arrive in one command, which returns no body', async (t) => {
  const commands: Document[] = [];
  const { store } = await given(
    t,
    () => nothingFound,
    (command) => {
      commands.push(command);
      return nothingFound;
    },
  );
  const where = { field: 'billed_to', equals: 'ada' };
  t.deepEqual(await store.ids('projects@4.1', { where, limit: 200 }), []);
  t.is(commands.length, 1);
  t.like(commands[0], { filter: { 'body.billed_to': { $eq: 'ada' } }, projection: { _id: 1 }, limit: 200 });
});
