/*
 * Faults between the adapter and the server that MONGODB_URL names, made by a proxy of our own: what is frozen, cut or
 * lost ends in time, and writes whose answers are lost are told right. What the server of CI lacks: see mongodb.test.ts.
 */
import test, { type ExecutionContext } from 'ava';

import { OutcomeUnknown } from '../../src/event-sourcing/errors.js';
import { realClock } from '../support/clock.js';
import { incrementalFold, wholeFold } from '../support/document-writes.js';
import {
  isCommand,
  makeMongoDbProxy,
  makeTestDatabase,
  mongoDbUrl,
  openStoresAt,
} from '../support/mongodb-server.js';
import { allUnavailableWithin, readCalls, writeCalls } from '../support/store-calls.js';
import type { Fate } from '../support/tcp-proxy.js';

/** Short enough to test, long enough for an answer on a busy machine. */
const limits = { openMs: 20_000, readMs: 1000, writeMs: 3000 };
const run = mongoDbUrl === undefined ? test.skip : test.serial;
const needs = mongoDbUrl === undefined ? ' (set MONGODB_URL to run this)' : '';

/** Stores through a proxy, others past it, and a look into the database. */
async function given(t: ExecutionContext) {
  const { name, url: direct, client } = await makeTestDatabase(t);
  const { proxy, url } = await makeMongoDbProxy(t, name);
  const behindProxy = await openStoresAt(t, url, { clock: realClock, limits });
  const pastProxy = await openStoresAt(t, direct, { clock: realClock });
  await behindProxy.readModelStore.ensureCollection('v', ['x']);
  /** The fate of the next command of that name; everything else passes. */
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
  `every call through a frozen connection ends in its time, and works again when it thaws${needs}`,
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
  `every call ends in its time while the server refuses connections, and works again afterwards${needs}`,
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

run(`connections that are cut or reset between calls are not noticed by callers${needs}`, async (t) => {
  const stores = await given(t);
  for (const fault of [stores.proxy.cut, stores.proxy.reset]) {
    fault();
    await recovers(t, stores);
  }
});

run(`a slow connection is slow and right${needs}`, async (t) => {
  const { proxy, stateStore, readModelStore } = await given(t);
  proxy.delayMs = 60;
  t.is(typeof (await stateStore.compareAndSet('k/1', null, 1)), 'string');
  t.deepEqual(await readModelStore.write('v', [wholeFold('a', 1n, {})]), ['applied']);
  t.is((await stateStore.get('k/1'))?.value, 1);
});

for (const fate of ['lose-request', 'lose-reply', 'hold-request', 'hold-reply'] as const) {
  run(`a compare-and-set that meets "${fate}" is applied once, and told${needs}`, async (t) => {
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
    nextMeets('insert', fate);
    t.is(typeof (await stateStore.compareAndSet('k/1', null, 4)), 'string');
    t.is((await direct.stateStore.get('k/1'))?.value, 4);
  });

  run(`documents, checkpoints, records and collections survive "${fate}"${needs}`, async (t) => {
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
    await readModelStore.saveCheckpoint('v', { logId: 'log', position: '7' });
    t.is((await direct.readModelStore.loadCheckpoint('v'))?.position, '7');
    nextMeets('insert', fate);
    const record = await readModelStore.putRecord('r', { live: 1 }, null);
    t.is((await direct.readModelStore.getRecord('r'))?.version, record ?? 'refused');
    nextMeets('create', fate);
    await readModelStore.ensureCollection('w', ['x']);
    nextMeets('find', fate);
    t.is((await readModelStore.get('v', 'b'))?.revision, 5n);
    nextMeets('drop', fate);
    await readModelStore.dropCollection('v');
    t.deepEqual(await direct.readModelStore.collections(), ['w']);
    t.is(await direct.readModelStore.loadCheckpoint('v'), null);
  });
}

run(`a write that arrives after its caller gave up never undoes what came later${needs}`, async (t) => {
  const { proxy, stateStore, readModelStore, direct } = await given(t);
  const first = await stateStore.compareAndSet('k/1', null, 'first');
  await readModelStore.write('v', [wholeFold('a', 1n, { n: 1 })]);
  proxy.decide = (request) => (isCommand(request, 'update') ? 'late-request' : 'pass');
  await Promise.all([
    t.throwsAsync(stateStore.compareAndSet('k/1', first, 'late'), { instanceOf: OutcomeUnknown }),
    t.throwsAsync(readModelStore.write('v', [incrementalFold('a', 1n, 2n, { n: 'late' })]), {
      instanceOf: OutcomeUnknown,
    }),
    t.throwsAsync(readModelStore.saveCheckpoint('v', { logId: 'log', position: '3' }), {
      instanceOf: OutcomeUnknown,
    }),
  ]);
  const second = await direct.stateStore.compareAndSet('k/1', first, 'second');
  await direct.readModelStore.write('v', [wholeFold('a', 4n, { n: 4 })]);
  await direct.readModelStore.saveCheckpoint('v', { logId: 'log', position: '9' });
  proxy.deliverLate();
  // The late requests are on the wire; what the server does with them is done before this returns.
  for (let n = 0; n < 20; n += 1) await direct.stateStore.compareAndSet('settle/1', null, n);
  t.is(await version(direct, 'k/1'), second);
  t.deepEqual(await direct.readModelStore.get('v', 'a'), { id: 'a', revision: 4n, body: { n: 4 } });
  t.is((await direct.readModelStore.loadCheckpoint('v'))?.position, '9');
});

run(`a lost answer that another writer overtook is still told right${needs}`, async (t) => {
  const { proxy, stateStore, direct } = await given(t);
  const first = await stateStore.compareAndSet('k/1', null, 'first');
  // The answer is held; the read-back fails until somebody else has built on our write.
  let held = false;
  proxy.decide = (request) => {
    if (isCommand(request, 'find')) return 'lose-request';
    if (!isCommand(request, 'update')) return 'pass';
    held = true;
    return 'hold-reply';
  };
  const pending = stateStore.compareAndSet('k/1', first, 'mine');
  await until(async () => held && (await direct.stateStore.get('k/1'))?.value === 'mine');
  const mine = await version(direct, 'k/1');
  await direct.stateStore.compareAndSet('k/1', mine, 'next');
  proxy.decide = () => 'pass';
  t.is(await pending, mine);
  t.is((await direct.stateStore.get('k/1'))?.value, 'next');
});

run(`of 50 in two processes that race exactly one wins${needs}`, async (t) => {
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

run(
  `what is stored can be read by people, with 64-bit revisions and indexes on the body${needs}`,
  async (t) => {
    const { readModelStore, stateStore, db } = await given(t);
    await readModelStore.write('v', [wholeFold('a', 2n ** 53n + 1n, { x: 'y', list: [{ n: 1 }] })]);
    const stored = await db.collection('view.v').findOne({});
    t.like(stored, { revision: 2n ** 53n + 1n, body: { x: 'y', list: [{ n: 1 }] } });
    t.deepEqual(Object.keys(stored ?? {}), ['_id', 'revision', 'write_id', 'body']);
    const indexes = await db.collection('view.v').indexes();
    t.deepEqual(indexes.map(({ key }) => Object.keys(key).toSorted()).toSorted(), [
      ['_id'],
      ['_id', 'body.x'],
    ]);
    t.false(indexes.some(({ unique }) => unique === true));
    await stateStore.compareAndSet('k/1', null, 1, { expiresAt: new Date(2_000_000_000_000) });
    t.like(await db.collection('state').findOne({}), { value: '1', expires_at: new Date(2_000_000_000_000) });
  },
);

type Given = Awaited<ReturnType<typeof given>>;

/** Calls that change nothing answer again. */
async function recovers(t: ExecutionContext, { readModelStore, stateStore }: Given): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await readModelStore.ping();
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

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await realClock.sleep(5);
}

async function version(stores: Given['direct'], key: string): Promise<string | null> {
  return (await stores.stateStore.get(key))?.version ?? null;
}
