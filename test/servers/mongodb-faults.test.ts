/*
 * Injects faults between the adapter and the server that MONGODB_URL names, with a proxy in the test. Calls end within
 * their time limit when connections freeze or break, and a write whose answer is lost reports its true outcome.
 * mongodb.test.ts lists the features that the server of CI lacks.
 */
import test, { type ExecutionContext } from 'ava';
import { OutcomeUnknown } from '../../src/event-sourcing/ports/errors.js';
import { eventually } from '../support/eventually.js';
import { realClock } from '../support/fakes/clock.js';
import { incrementalFold, wholeFold } from '../support/clients/document-writes.js';
import {
  isCommand,
  makeMongoDbProxy,
  makeTestDatabase,
  mongoDbUrl,
  openStoresAt,
} from '../support/servers/store-servers.js';
import { allUnavailableWithin, readCalls, writeCalls } from '../support/clients/store-calls.js';
import type { Fate } from '../support/servers/proxies.js';
import {
  getRecord,
  loadCheckpoint,
  putRecord,
  makeSaveCheckpoint,
} from '../../src/event-sourcing/ports/records.js';

/** Short enough for a test, long enough for an answer on a busy machine. */
const limits = { openMs: 20_000, readMs: 1000, writeMs: 3000, indexMs: 3000 };
const run = mongoDbUrl === undefined ? test.skip : test.serial;
/** These tests mostly wait for limits of time, so they run side by side, after those in series. */
const runBeside = mongoDbUrl === undefined ? test.skip : test;
const needs = mongoDbUrl === undefined ? ' (set MONGODB_URL to run this)' : '';

/** Opens stores through a proxy, stores that bypass it, and a client of the database. */
async function given(t: ExecutionContext) {
  const { name, url: direct, client } = await makeTestDatabase(t);
  const { proxy, url } = await makeMongoDbProxy(t, name);
  const behindProxy = await openStoresAt(t, url, { clock: realClock, limits });
  const pastProxy = await openStoresAt(t, direct, { clock: realClock });
  await behindProxy.readModelStore.ensureCollection('v', ['x']);
  /** Sets the fate of the next command of this name; all other requests pass. */
  const nextMeets = (command: string, fate: Fate, times = 1) => {
    let left = times;
    proxy.decide = (request) => {
      if (left === 0 || !isCommand(request, command)) return 'pass';
      left -= 1;
      return fate;
    };
  };
  return { proxy, ...behindProxy, direct: pastProxy, db: client.db(name), nextMeets };
}

run(
  `Every call through a frozen connection ends within its time limit, and works again after the thaw${needs}`,
  async (t) => {
    const stores = await given(t);
    stores.proxy.freeze();
    await allUnavailableWithin(t, limits.readMs, readCalls(stores));
    await allUnavailableWithin(t, limits.writeMs, writeCalls(stores));
    stores.proxy.thaw();
    await recovers(t, stores);
  },
);

run(
  `Every call ends within its time limit while the server refuses connections, and works again afterwards${needs}`,
  async (t) => {
    const stores = await given(t);
    stores.proxy.refusing = true;
    stores.proxy.reset();
    await allUnavailableWithin(t, limits.readMs, readCalls(stores));
    const errors = await allUnavailableWithin(t, limits.writeMs, writeCalls(stores));
    t.false(Object.values(errors).some((error) => error instanceof OutcomeUnknown));
    stores.proxy.refusing = false;
    await recovers(t, stores);
  },
);

run(`Callers do not notice connections that are cut or reset between calls${needs}`, async (t) => {
  const stores = await given(t);
  for (const fault of [stores.proxy.cut, stores.proxy.reset]) {
    fault();
    await recovers(t, stores);
  }
});

run(`Calls over a slow connection are slow and correct${needs}`, async (t) => {
  const { proxy, stateStore, readModelStore } = await given(t);
  proxy.delayMs = 60;
  t.is(typeof (await stateStore.compareAndSet('k/1', null, 1)), 'string');
  t.deepEqual(await readModelStore.write('v', [wholeFold('a', 1n, {})]), ['applied']);
  t.is((await stateStore.get('k/1'))?.value, 1);
});

for (const fate of ['lose-request', 'lose-reply', 'hold-request', 'hold-reply'] as const) {
  runBeside(
    `A compare-and-set under "${fate}" is applied once and reports its outcome${needs}`,
    async (t) => {
      const { stateStore, direct, nextMeets, db } = await given(t);
      nextMeets('insert', fate);
      const first = await stateStore.compareAndSet('k/1', null, 1);
      t.is(await version(direct, 'k/1'), first);
      nextMeets('update', fate);
      const second = await stateStore.compareAndSet('k/1', first, 2);
      t.is(await version(direct, 'k/1'), second);
      t.like(await db.collection('state').findOne({}), { version: second, replaced: first, value: '2' });
      nextMeets('update', fate);
      t.is(await stateStore.compareAndSet('k/1', first, 3), null);
      nextMeets('update', fate);
      t.is(await stateStore.compareAndSet('k/1', second, null), 'removed');
      // The record of a removal stays. The insert is a duplicate, and the update over the removal has the fault.
      nextMeets('update', fate);
      t.is(typeof (await stateStore.compareAndSet('k/1', null, 4)), 'string');
      t.is((await direct.stateStore.get('k/1'))?.value, 4);
      // Over a removal, an insert without an answer may be older than the removal. It reports that, and changes nothing.
      await stateStore.compareAndSet('k/1', await version(direct, 'k/1'), null);
      nextMeets('insert', fate);
      await t.throwsAsync(stateStore.compareAndSet('k/1', null, 5), { instanceOf: OutcomeUnknown });
      t.is(await direct.stateStore.get('k/1'), null);
      t.is(typeof (await stateStore.compareAndSet('k/1', null, 5)), 'string');
    },
  );

  runBeside(`Documents, checkpoints, records and collections survive "${fate}"${needs}`, async (t) => {
    const { readModelStore, direct, nextMeets } = await given(t);
    await readModelStore.write('v', [wholeFold('b', 5n, { n: 5 }), wholeFold('c', 1n, { n: 1 })]);
    nextMeets('update', fate);
    t.deepEqual(
      await readModelStore.write('v', [
        wholeFold('b', 5n, { n: 0 }),
        incrementalFold('c', 1n, 2n, { n: 2 }),
        wholeFold('a', 1n, { n: 1 }),
        incrementalFold('absent', 1n, 2n, {}),
      ]),
      ['refused', 'applied', 'applied', 'refused'],
    );
    const bodies = (await direct.readModelStore.scan('v', { limit: 9 })).map(({ body }) => body);
    t.deepEqual(bodies, [{ n: 1 }, { n: 5 }, { n: 2 }]);

    nextMeets('update', fate);
    await makeSaveCheckpoint(readModelStore, 'v')({ logId: 'log', position: '7' });
    t.is((await loadCheckpoint(direct.readModelStore, 'v'))?.position, '7');
    nextMeets('update', fate);
    const record = await putRecord(readModelStore, 'r', { live: 1 }, null);
    t.is((await getRecord(direct.readModelStore, 'r'))?.version, record ?? 0n);
    nextMeets('create', fate);
    await readModelStore.ensureCollection('w', ['x']);
    nextMeets('find', fate);
    t.is((await readModelStore.get('v', 'b'))?.revision, 5n);
    nextMeets('drop', fate);
    await readModelStore.dropCollection('v');
    t.deepEqual(await direct.readModelStore.collections(), ['w']);
  });
}

run(`A write that arrives after its caller gave up never undoes a later write${needs}`, async (t) => {
  const { proxy, stateStore, readModelStore, direct } = await given(t);
  const first = await stateStore.compareAndSet('k/1', null, 'first');
  await readModelStore.write('v', [wholeFold('a', 1n, { n: 1 })]);
  proxy.decide = (request) => (isCommand(request, 'update') ? 'late-request' : 'pass');
  await Promise.all([
    t.throwsAsync(stateStore.compareAndSet('k/1', first, 'late'), { instanceOf: OutcomeUnknown }),
    t.throwsAsync(readModelStore.write('v', [incrementalFold('a', 1n, 2n, { n: 'late' })]), {
      instanceOf: OutcomeUnknown,
    }),
    t.throwsAsync(makeSaveCheckpoint(readModelStore, 'v')({ logId: 'log', position: '3' }), {
      instanceOf: OutcomeUnknown,
    }),
  ]);
  const second = await direct.stateStore.compareAndSet('k/1', first, 'second');
  await direct.readModelStore.write('v', [wholeFold('a', 4n, { n: 4 })]);
  await makeSaveCheckpoint(direct.readModelStore, 'v')({ logId: 'log', position: '9' });
  proxy.deliverLate();
  // The late requests are on the wire. After these writes the server has handled them.
  for (let n = 0; n < 20; n += 1) await direct.stateStore.compareAndSet('settle/1', null, n);
  t.is(await version(direct, 'k/1'), second);
  t.deepEqual(await direct.readModelStore.get('v', 'a'), { id: 'a', revision: 4n, body: { n: 4 } });
  t.is((await loadCheckpoint(direct.readModelStore, 'v'))?.position, '9');
});

run(
  `A write with a lost answer that another writer replaced still reports its outcome${needs}`,
  async (t) => {
    const { proxy, stateStore, direct } = await given(t);
    const first = await stateStore.compareAndSet('k/1', null, 'first');
    // The proxy holds the answer. The read-back fails until another process has replaced the write.
    let held = false;
    proxy.decide = (request) => {
      if (isCommand(request, 'find')) return 'lose-request';
      if (!isCommand(request, 'update')) return 'pass';
      held = true;
      return 'hold-reply';
    };
    const pending = stateStore.compareAndSet('k/1', first, 'mine');
    await eventually(
      'the record is written',
      async () => held && (await direct.stateStore.get('k/1'))?.value === 'mine',
    );
    const mine = await version(direct, 'k/1');
    await direct.stateStore.compareAndSet('k/1', mine, 'next');
    proxy.decide = () => 'pass';
    t.is(await pending, mine);
    t.is((await direct.stateStore.get('k/1'))?.value, 'next');
  },
);

run(`Of 50 concurrent writes in two processes exactly one succeeds${needs}`, async (t) => {
  const { stateStore, direct } = await given(t);
  for (let round = 0; round < 5; round += 1) {
    const expected = (await direct.stateStore.get('claim/1'))?.version ?? null;
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, n) =>
        (n % 2 === 0 ? stateStore : direct.stateStore).compareAndSet('claim/1', expected, n),
      ),
    );
    t.is(outcomes.filter((outcome) => outcome !== null).length, 1);
  }
});

run(`Stored documents are readable, with 64-bit revisions and indexes on the body${needs}`, async (t) => {
  const { readModelStore, stateStore, db } = await given(t);
  await readModelStore.write('v', [wholeFold('a', 2n ** 53n + 1n, { x: 'y', list: [{ n: 1 }] })]);
  const stored = await db.collection('view.v').findOne({});
  t.like(stored, { revision: 2n ** 53n + 1n, body: { x: 'y', list: [{ n: 1 }] } });
  t.deepEqual(Object.keys(stored ?? {}), ['_id', 'revision', 'write_id', 'body']);
  const indexes = await db.collection('view.v').indexes();
  t.deepEqual(indexes.map(({ key }) => Object.keys(key).toSorted()).toSorted(), [['_id'], ['_id', 'body.x']]);
  t.false(indexes.some(({ unique }) => unique === true));
  await stateStore.compareAndSet('k/1', null, 1, { expiresAt: new Date(2_000_000_000_000) });
  t.like(await db.collection('state').findOne({}), { value: '1', expires_at: new Date(2_000_000_000_000) });
});

type Given = Awaited<ReturnType<typeof given>>;

/** Asserts that calls which change nothing answer again. */
async function recovers(t: ExecutionContext, { readModelStore, stateStore }: Given): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await readModelStore.collections();
      await stateStore.ping();
      break;
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
  t.is(await readModelStore.get('v', 'never'), null);
  t.is(await stateStore.get('never/1'), null);
  t.deepEqual(await readModelStore.write('v', []), []);
  const record = await stateStore.compareAndSet('recovered/1', null, 1);
  t.is(await stateStore.compareAndSet('recovered/1', record, null), 'removed');
}

async function version(stores: Given['direct'], key: string): Promise<string | null> {
  return (await stores.stateStore.get(key))?.version ?? null;
}
