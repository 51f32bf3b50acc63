/* Tests the adapter with more calls than connections, and with a server that stands still. */
import test, { type ExecutionContext } from 'ava';

import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { type MongoDbStores, openMongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { eventually } from '../../support/eventually.js';
import { untilAvailable } from '../../support/clients/store-calls.js';
import { realClock } from '../../support/fakes/clock.js';
import { makeFakeMongoDb, nothingFound } from '../../support/fakes/fake-mongodb.js';

const places = 4;
/** An attempt of a read has 1 s, and a call waits 2 s for a place. */
const limits = { openMs: 30_000, readMs: 2_000, writeMs: 30_000, indexMs: 30_000 };

test('A call that waits too long for a connection is refused, and was not sent', async (t) => {
  const { server, stores } = await given(t);
  server.script = () => 'frozen';
  const running = callsOf(() => stores.stateStore.get('running/1'), places);
  const waiting = callsOf(() => stores.stateStore.get('waiting/1'), 3);
  for (const call of waiting) {
    const error = await t.throwsAsync(call, { instanceOf: StoreUnavailable });
    t.is(error.message, 'MongoDB: read of state: more calls than the 4 connections can serve');
  }
  await Promise.allSettled(running);
  t.false(server.received.some(({ filter }) => isFor(filter, 'waiting/1')));
});

test('A write that waits too long for a connection had no effect', async (t) => {
  const { server, stores } = await given(t);
  server.script = () => 'frozen';
  const running = callsOf(() => stores.stateStore.get('running/1'), places);
  const error = await t.throwsAsync(stores.stateStore.compareAndSet('k/1', 'v1', 1), {
    instanceOf: StoreUnavailable,
  });
  t.false(error instanceof OutcomeUnknown);
  await Promise.allSettled(running);
  t.false(server.received.some((command) => 'update' in command));
});

test('Calls that run out of time close no connection, and work goes on over them after the thaw', async (t) => {
  const { server, stores } = await given(t);
  server.script = () => 'frozen';
  for (const call of callsOf(() => stores.stateStore.get('k/1'), places))
    await t.throwsAsync(call, { instanceOf: StoreUnavailable });
  const used = server.connectionsUsed();
  server.script = (command) => ('find' in command ? nothingFound : { ok: 1, n: 1 });
  server.thaw();
  for (let round = 0; round < 5; round += 1) {
    t.deepEqual(
      await Promise.all(callsOf(() => read(stores, 'k/1'), places)),
      Array.from({ length: places }, () => [null]),
    );
  }
  t.is(server.connectionsUsed(), used);
  t.true(used <= places);
});

test('A place stays taken while the command of a call that ran out of time runs', async (t) => {
  const { server, stores } = await given(t);
  server.script = () => 'frozen';
  await Promise.allSettled(callsOf(() => stores.stateStore.get('frozen/1'), places));
  const before = server.received.length;
  await t.throwsAsync(stores.stateStore.get('late/1'), { instanceOf: StoreUnavailable });
  t.is(server.received.length, before);
});

test('A command without a reply closes its connection in the end, and its place is free again', async (t) => {
  const { server, stores } = await given(t, { query: 'socketTimeoutMS=1500' });
  server.script = ({ filter }) => (isFor(filter, 'silent/1') ? 'silent' : nothingFound);
  await Promise.allSettled(callsOf(() => stores.stateStore.get('silent/1'), places));
  t.deepEqual(await read(stores, 'k/1'), [null]);
});

test('The server ends a read itself before its caller stops waiting', async (t) => {
  const { server, stores } = await given(t);
  await read(stores, 'k/1');
  t.like(server.received.at(-1), { find: 'state', maxTimeMS: 900, readConcern: { level: 'majority' } });
});

test('The limits of a command and of its connection follow the URL', async (t) => {
  const { server, stores } = await given(t, { query: 'socketTimeoutMS=500' });
  await read(stores, 'k/1');
  t.like(server.received.at(-1), { find: 'state', maxTimeMS: 450 });
  await untilAvailable(() => stores.stateStore.compareAndSet('k/1', null, 1));
  t.like(server.received.at(-1), { insert: 'state', writeConcern: { wtimeout: 450 } });
  // A silent server: the adapter sends the read again over other connections, because it has closed that of each attempt.
  const used = server.connectionsUsed();
  server.script = () => 'silent';
  await Promise.all(callsOf(() => t.throwsAsync(stores.stateStore.get('k/1')), places));
  t.true(server.connectionsUsed() > used, `${server.connectionsUsed()} connections after ${used}`);
});

async function given(t: ExecutionContext, { query = '' }: { readonly query?: string } = {}) {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const url = `${server.url}?maxPoolSize=${places}&${query}`;
  const stores = await openMongoDbStores({ url, clock: realClock, random: Math.random, limits });
  t.teardown(stores.close);
  await eventually('the index is asked for', () =>
    server.received.some((command) => 'createIndexes' in command),
  );
  // All connections exist before the test begins.
  await Promise.all(callsOf(() => read(stores, 'warm/1'), places * 4));
  return { server, stores };
}

/** Reads until a busy machine answers within the limits. */
function read({ stateStore }: Pick<MongoDbStores, 'stateStore'>, key: string): Promise<readonly unknown[]> {
  return untilAvailable(async () => [await stateStore.get(key)]);
}

function callsOf<Result>(call: () => Promise<Result>, count: number): Promise<Result>[] {
  return Array.from({ length: count }, () => {
    const result = call();
    result.catch(() => undefined);
    return result;
  });
}

function isFor(filter: unknown, id: string): boolean {
  return typeof filter === 'object' && filter !== null && '_id' in filter && filter._id === id;
}
