/* Counts the commands of reads that begin in one turn of the event loop, on a server that answers from a table. */
import test, { type ExecutionContext } from 'ava';
import type { Document } from 'mongodb';

import { StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { openMongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { eventually } from '../../support/eventually.js';
import { makeFakeMongoDb } from '../../support/fakes/fake-mongodb.js';
import { realClock } from '../../support/fakes/clock.js';

const limits = { openMs: 600_000, readMs: 600_000, writeMs: 600_000, indexMs: 600_000 };

interface Sent {
  readonly collection: string;
  readonly ids: readonly string[];
}

/** A store whose server has a document of each id that begins with its collection. */
async function given(t: ExecutionContext) {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const { readModelStore: store, close } = await openMongoDbStores({
    ...{ clock: realClock, random: Math.random, limits, url: server.url },
  });
  t.teardown(close);
  server.received.length = 0;
  server.script = answer;
  return { server, store, finds: () => server.received.filter(({ find }) => find).map(findOf) };
}

function findOf({ find, filter }: Document): Sent {
  return { collection: String(find), ids: (filter as { _id: { $in: string[] } })._id.$in };
}

/** The start of a store makes an index beside its calls. */
function answer(command: Document): Document {
  return 'find' in command ? found(findOf(command)) : { ok: 1 };
}

function found({ collection, ids }: Sent): Document {
  const firstBatch = ids
    .filter((id) => collection === `view.${id.split('/')[0]}`)
    .map((id) => ({ _id: id, revision: 1n, body: { of: id } }));
  return { ok: 1, cursor: { id: 0n, ns: 'stowage.any', firstBatch } };
}

const document = (id: string) => ({ id, revision: 1n, body: { of: id } });
const namesOf = (n: number) =>
  ['sessions', 'users', 'projects'].map((collection) => ({ collection, id: `${collection}/${n}` }));

test('Reads of one turn take one command for each collection, and a document that many ask for arrives once', async (t) => {
  const { store, finds } = await given(t);
  const gates = [1, 2, 3, 1].map((n) => store.getEach(namesOf(n)));
  const singles = ['storages/1', 'storages/2', 'users/1'].map((id) => store.get(id.split('/')[0] ?? '', id));
  t.deepEqual(
    await Promise.all(gates),
    [1, 2, 3, 1].map((n) => namesOf(n).map(({ id }) => document(id))),
  );
  t.deepEqual(await Promise.all(singles), ['storages/1', 'storages/2', 'users/1'].map(document));
  t.deepEqual(
    finds().sort((one, other) => one.collection.localeCompare(other.collection)),
    [
      { collection: 'view.projects', ids: ['projects/1', 'projects/2', 'projects/3'] },
      { collection: 'view.sessions', ids: ['sessions/1', 'sessions/2', 'sessions/3'] },
      { collection: 'view.storages', ids: ['storages/1', 'storages/2'] },
      { collection: 'view.users', ids: ['users/1', 'users/2', 'users/3'] },
    ],
  );
});

test('A read that begins after a command was sent gets no answer of that command', async (t) => {
  const { server, store, finds } = await given(t);
  server.script = () => 'frozen';
  const early = ['users/1', 'users/2'].map((id) => store.get('users', id));
  await eventually('a command is sent', () => finds().length > 0);
  const late = [store.get('users', 'users/1'), store.get('users', 'users/2')];
  await eventually('a second command is sent', () => finds().length > 1);
  server.script = answer;
  server.thaw();
  t.deepEqual(
    await Promise.all([...early, ...late]),
    [1, 2, 1, 2].map((n) => document(`users/${n}`)),
  );
  t.is(finds().length, 2);
});

test('Many documents arrive in commands of 20, each with its limit', async (t) => {
  const { store, finds } = await given(t);
  const ids = Array.from({ length: 45 }, (_, n) => `users/${n}`);
  t.deepEqual(await Promise.all(ids.map((id) => store.get('users', id))), ids.map(document));
  t.deepEqual(
    finds()
      .map(({ ids: part }) => part.length)
      .sort((one, other) => other - one),
    [20, 20, 5],
  );
});

test('A damaged document fails those who ask for it, and an absent one is null', async (t) => {
  const { server, store } = await given(t);
  server.script = (command) => {
    const reply = answer(command);
    for (const stored of (reply['cursor'] as { firstBatch: Document[] } | undefined)?.firstBatch ?? [])
      if (stored['_id'] === 'users/bad') stored['revision'] = 'one';
    return reply;
  };
  const reads = ['users/bad', 'users/1', 'users/bad', 'sessions/1'].map((id) => store.get('users', id));
  const [bad, good, again, absent] = await Promise.allSettled(reads);
  t.true(bad?.status === 'rejected' && bad.reason instanceof StoreDamaged);
  t.true(again?.status === 'rejected' && again.reason instanceof StoreDamaged);
  t.deepEqual(good, { status: 'fulfilled', value: document('users/1') });
  t.deepEqual(absent, { status: 'fulfilled', value: null });
});

test('A command that the server refuses fails only the reads of its collection', async (t) => {
  const { server, store } = await given(t);
  server.script = (command) =>
    command['find'] === 'view.users' ? { ok: 0, code: 13, errmsg: 'not authorized' } : answer(command);
  const reads = [store.get('users', 'users/1'), store.get('sessions', 'sessions/1'), store.get('a', 'a/1')];
  const [users, ...others] = await Promise.allSettled(reads);
  t.true(users?.status === 'rejected' && users.reason instanceof StoreUnavailable);
  t.deepEqual(
    others.map((result) => result.status === 'fulfilled' && result.value?.id),
    ['sessions/1', 'a/1'],
  );
});
