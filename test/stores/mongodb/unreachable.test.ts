/* Tests the adapter while the server is away, silent, too old or failing: every call ends within its time limit. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import test, { type ExecutionContext } from 'ava';

import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { defaultMongoDbLimits } from '../../../src/stores/mongodb/calls/limits.js';
import { isUnreachable, openMongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { eventually } from '../../support/eventually.js';
import { realClock } from '../../support/fakes/clock.js';
import { makeFakeMongoDb, nothingFound } from '../../support/fakes/fake-mongodb.js';
import { allUnavailableWithin, readCalls, slackMs, writeCalls } from '../../support/clients/store-calls.js';
import { loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';

const limits = { openMs: 120_000, readMs: 300, writeMs: 600, indexMs: 600 };
/** Limits for starts that fail. */
const impatient = { ...limits, openMs: 3_000 };
/** Limits for calls that the server answers. */
const ample = { openMs: 120_000, readMs: 120_000, writeMs: 120_000, indexMs: 120_000 };
const given = { clock: realClock, random: Math.random, limits };

async function openWithFake(t: ExecutionContext, hello = {}, own = limits) {
  const server = await makeFakeMongoDb(hello);
  t.teardown(server.close);
  const stores = await openMongoDbStores({ ...given, url: server.url, limits: own });
  t.teardown(stores.close);
  // The start does not wait for its index. Its command would count among those of the test.
  await eventually('the index is asked for', () =>
    server.received.some((command) => 'createIndexes' in command),
  );
  return { server, stores };
}

test('A server that refuses connections stops the start with a sentence', async (t) => {
  const server = await makeFakeMongoDb();
  await server.close();
  const error = await t.throwsAsync(openMongoDbStores({ ...given, url: server.url, limits: impatient }), {
    instanceOf: StoreUnavailable,
  });
  t.regex(
    error.message,
    /MONGODB_URL names cannot be reached; check that it runs and the address: .*ECONNREFUSED/,
  );
  t.true(isUnreachable(error), 'a later attempt may succeed');
});

test('A listener that accepts connections and stays silent stops the start within the time limit', async (t) => {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = listener.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const startedMs = performance.now();
  await t.throwsAsync(
    openMongoDbStores({ ...given, limits: impatient, url: `mongodb://127.0.0.1:${port ?? 0}/` }),
    {
      instanceOf: StoreUnavailable,
      message: /cannot be reached/,
    },
  );
  t.true(performance.now() - startedMs < impatient.openMs + limits.writeMs + slackMs);
});

test('A server that is too old stops the start with a sentence', async (t) => {
  await t.throwsAsync(openWithFake(t, { maxWireVersion: 8 }), {
    instanceOf: StoreUnavailable,
    message: 'the MongoDB server is too old: 4.4 or newer is needed; upgrade it',
  });
});

test('A server that refuses the password or the rights stops the start with a sentence', async (t) => {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  server.script = () => ({
    ok: 0,
    code: 13,
    codeName: 'Unauthorized',
    errmsg: 'command requires authentication',
  });
  const error = await t.throwsAsync(openMongoDbStores({ ...given, url: server.url }), {
    instanceOf: StoreUnavailable,
    message:
      'MongoDB refused the connection: Unauthorized (13); check the user, password and rights in MONGODB_URL',
  });
  t.false(isUnreachable(error), 'no later attempt succeeds');
});

test('The error for an unusable URL leaves out its password', async (t) => {
  for (const url of [
    'mongodb://user:secret@',
    'http://user:secret@host/',
    'mongodb://user:sec#ret@h/?nonsense=1',
    '',
  ]) {
    const error = await t.throwsAsync(openMongoDbStores({ ...given, url }), { instanceOf: StoreUnavailable });
    t.regex(error.message, /^the driver does not accept MONGODB_URL/);
    t.notRegex(`${error.message} ${error.stack ?? ''} ${String(error.cause)}`, /secret|sec#ret/);
  }
});

test('The stores report the kind of the server', async (t) => {
  t.is((await openWithFake(t, {}, ample)).stores.topology, 'standalone');
});

test("The adapter overrides the URL's settings of durability, retries and time limits", async (t) => {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const url = `${server.url}other?w=0&journal=false&retryWrites=true&retryReads=true&socketTimeoutMS=0&readPreference=secondary`;
  const stores = await openMongoDbStores({ ...given, url, limits: defaultMongoDbLimits });
  t.teardown(stores.close);
  await stores.stateStore.compareAndSet('k/1', null, 1);
  const insert = server.received.find((command) => 'insert' in command);
  t.like(insert, { $db: 'other', ordered: false, writeConcern: { w: 'majority', j: true } });
  server.script = () => 'reset';
  await t.throwsAsync(stores.stateStore.get('k/1'), { instanceOf: StoreUnavailable });
  t.like(server.received.at(-1), { find: 'state', readConcern: { level: 'majority' } });
});

test('Every call to a server that becomes silent ends within its time limit', async (t) => {
  // A write whose limit passes before it is sent had no effect, and a busy machine is slow to send.
  const patient = { ...limits, writeMs: 8_000 };
  const { server: silent, stores: others } = await openWithFake(t, {}, patient);
  silent.script = () => 'silent';
  const sent = { write: async () => others.stateStore.compareAndSet('k/1', 'v1', 1) };
  t.true((await allUnavailableWithin(t, patient.writeMs, sent))['write'] instanceof OutcomeUnknown);
  const { server, stores } = await openWithFake(t);
  server.script = () => 'silent';
  for (let round = 0; round < 2; round += 1) {
    const reads = await allUnavailableWithin(t, limits.readMs, readCalls(stores));
    t.false(Object.values(reads).some((error) => error instanceof OutcomeUnknown));
    await allUnavailableWithin(t, limits.writeMs, writeCalls(stores));
  }
});

test('More calls than connections also end within their time limit', async (t) => {
  const { server, stores } = await openWithFake(t);
  server.script = () => 'silent';
  const many: Record<string, () => Promise<unknown>> = {};
  for (let n = 0; n < 60; n += 1) {
    many[`get ${n}`] = async () => stores.stateStore.get(`k/${n}`);
    many[`set ${n}`] = async () => stores.stateStore.compareAndSet(`k/${n}`, null, 1);
  }
  await allUnavailableWithin(t, limits.writeMs, many);
});

test('Every call to a server that resets the connection ends within its time limit', async (t) => {
  // The driver checks a server at most twice a second, and a write needs a server to reach.
  const own = { ...limits, writeMs: 4_000 };
  const { server, stores } = await openWithFake(t, {}, own);
  server.script = () => 'reset';
  await allUnavailableWithin(t, own.readMs, readCalls(stores));
  const writes = await allUnavailableWithin(t, own.writeMs, {
    put: async () => stores.stateStore.compareAndSet('k/1', 'v1', 1),
  });
  t.true(writes['put'] instanceof OutcomeUnknown);
});

test('A write to a server that is gone certainly had no effect', async (t) => {
  const { server, stores } = await openWithFake(t, {}, defaultMongoDbLimits);
  await server.close();
  await t.throwsAsync(stores.stateStore.get('k/1'), { instanceOf: StoreUnavailable });
  const writes = await allUnavailableWithin(t, defaultMongoDbLimits.writeMs, writeCalls(stores));
  for (const [name, error] of Object.entries(writes)) t.false(error instanceof OutcomeUnknown, name);
});

test('A refusal by the server is final and had no effect', async (t) => {
  const { server, stores } = await openWithFake(t, {}, ample);
  server.script = () => ({ ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not you, secret' });
  for (const [name, call] of Object.entries({ ...readCalls(stores), ...writeCalls(stores) })) {
    const before = server.received.length;
    const errors = await allUnavailableWithin(t, 0, { [name]: call });
    t.false(errors[name] instanceof OutcomeUnknown, name);
    t.regex(errors[name]?.message ?? '', /Unauthorized \(13\)$/);
    t.is(server.received.length, before + 1, name);
  }
});

test('A write error that does not concern the guard refuses the call', async (t) => {
  const { server, stores } = await openWithFake(t, {}, ample);
  const refusal = { ok: 1, n: 0, writeErrors: [{ index: 0, code: 10_334, errmsg: 'too large: secret' }] };
  server.script = (command) => ('find' in command ? nothingFound : refusal);
  const error = await t.throwsAsync(stores.stateStore.compareAndSet('k/1', null, 1), {
    instanceOf: StoreUnavailable,
  });
  t.is(error.message, 'MongoDB: compare-and-set in state: write error 10334');
});

test('A document that another program wrote is damage, and the error says what to do', async (t) => {
  const { server, stores } = await openWithFake(t, {}, ample);
  const cursor = { id: 0n, ns: 'stowage.any', firstBatch: [{ _id: 'u1', revision: 'secret' }] };
  server.script = () => ({ ok: 1, cursor });
  for (const read of [
    () => stores.readModelStore.get('users@1.1', 'u1'),
    () => loadCheckpoint(stores.readModelStore, 'users@1.1'),
    () => stores.stateStore.get('u1'),
  ]) {
    const error = await t.throwsAsync(read, { instanceOf: StoreDamaged });
    t.regex(
      error.message,
      /^collection \S+ holds a document that Stowage did not write; give Stowage a separate database/,
    );
    t.false(error.message.includes('secret'));
  }
});

const steppingDown = {
  'in its answer': { ok: 0, code: 189, codeName: 'PrimarySteppedDown', errmsg: 'stepped down' },
  'in the middle of a write': {
    ok: 1,
    n: 0,
    writeErrors: [{ index: 0, code: 11_602, errmsg: 'interrupted' }],
  },
};
for (const [where, reply] of Object.entries(steppingDown)) {
  test(`A primary that steps down ${where} receives the write again, and the second answer counts`, async (t) => {
    const { server, stores } = await openWithFake(t, {}, ample);
    let asked = 0;
    server.script = (command) => {
      if ('find' in command) return nothingFound;
      asked += 1;
      return asked === 1 ? reply : { ok: 1, n: 1 };
    };
    t.is(typeof (await stores.stateStore.compareAndSet('k/1', null, 1)), 'string');
    t.is(asked, 2);
  });
}

test('The driver logs no commands under any environment, because commands contain documents', async (t) => {
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const write = process.stderr.write.bind(process.stderr);
  t.teardown(() => {
    process.stderr.write = write;
  });
  let logged = '';
  process.stderr.write = (
    text: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ) => {
    logged += String(text);
    (typeof encoding === 'function' ? encoding : done)?.();
    return true;
  };
  // The driver reads the variable when the client is constructed, which happens before the first `await`.
  process.env['MONGODB_LOG_ALL'] = 'debug';
  const opening = openMongoDbStores({ ...given, limits: ample, url: server.url });
  delete process.env['MONGODB_LOG_ALL'];
  const stores = await opening;
  t.teardown(stores.close);
  await stores.stateStore.compareAndSet('canary/1', null, 'canary');
  await stores.close();
  t.regex(logged, /Connection created/);
  t.false(logged.includes('canary'));
});

test('A write that its replicas did not confirm is unknown until a majority read shows it', async (t) => {
  const { server, stores } = await openWithFake(t, {}, { ...defaultMongoDbLimits, writeMs: 2000 });
  let confirmed = false;
  let written: unknown;
  server.script = (command) => {
    if (!('find' in command)) {
      written ??= command['documents'];
      const writeErrors = confirmed ? [{ index: 0, code: 11_000, errmsg: 'duplicate' }] : [];
      return {
        ok: 1,
        n: 1,
        writeErrors,
        writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
      };
    }
    return { ok: 1, cursor: { id: 0n, ns: 'stowage.state', firstBatch: confirmed ? written : [] } };
  };
  await t.throwsAsync(stores.stateStore.compareAndSet('k/1', null, 1), { instanceOf: OutcomeUnknown });
  written = undefined;
  const late = stores.stateStore.compareAndSet('k/1', null, 2);
  setTimeout(() => {
    confirmed = true;
  }, 100);
  t.is(typeof (await late), 'string');
});

test('A closed store refuses every call at once', async (t) => {
  const { stores } = await openWithFake(t);
  await stores.close();
  await stores.readModelStore.close();
  await stores.stateStore.close();
  await allUnavailableWithin(t, 0, { ...readCalls(stores), ...writeCalls(stores) });
});

test('Closing ends within its time limit while the server is silent', async (t) => {
  const { server, stores } = await openWithFake(t);
  server.script = () => 'silent';
  const pending = t.throwsAsync(stores.stateStore.get('k/1'), { instanceOf: StoreUnavailable });
  const startedMs = performance.now();
  await stores.close();
  t.true(performance.now() - startedMs < limits.writeMs + slackMs);
  await pending;
});
