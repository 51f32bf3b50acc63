/* Tests that the adapter confirms the primary of a replica set before each read that may authorise a request. */
import test, { type ExecutionContext } from 'ava';
import type { Document } from 'mongodb';

import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { openMongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { eventually } from '../../support/eventually.js';
import { realClock } from '../../support/fakes/clock.js';
import { makeFakeMongoDb, nothingFound } from '../../support/fakes/fake-mongodb.js';
import { getRecord, getRecords, loadCheckpoints } from '../../../src/event-sourcing/ports/records.js';

/** The age at which a read waits for the next confirmation (src/stores/mongodb/README.md#reads-that-authorise), and a margin. */
const staleMs = 3_100;

const gate = [
  { collection: 'sessions@2.1', id: 's1' },
  { collection: 'users@3.1', id: 'u1' },
];

const isLinearizable = ({ readConcern }: Document): boolean =>
  (readConcern as { level?: string } | undefined)?.level === 'linearizable';
const isOfIndexes = (command: Document): boolean => 'createIndexes' in command;

const answered = (command: Document): Document =>
  'find' in command || 'aggregate' in command ? nothingFound : { ok: 1, n: 1 };

/** A former primary answers all reads, and no majority confirms it. */
const withoutMajority = (command: Document): Document =>
  isLinearizable(command)
    ? { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'no majority' }
    : answered(command);

async function given(t: ExecutionContext, hello: Document = { setName: 'rs0' }) {
  const server = await makeFakeMongoDb(hello);
  t.teardown(server.close);
  server.script = answered;
  const url = `${server.url}?directConnection=true`;
  // A read repeats until its limit, and a busy machine may be late with the answers.
  const limits = { openMs: 60_000, readMs: 6_000, writeMs: 60_000, indexMs: 60_000 };
  const stores = await openMongoDbStores({ url, clock: realClock, random: Math.random, limits });
  t.teardown(stores.close);
  await eventually('the indexes are asked for', () => server.received.some(isOfIndexes));
  server.received.length = 0;
  return { server, ...stores };
}

test('The first read of a session sends a linearizable read before its command', async (t) => {
  const { server, readModelStore, topology } = await given(t);
  t.is(topology, 'replica set');
  await readModelStore.getEach(gate);
  t.like(server.received[0], { find: 'state', readConcern: { level: 'linearizable' } });
  t.like(server.received[1], { aggregate: 'view.sessions@2.1' });
});

test('A read of a session fails once no majority confirmed the primary for 3 s, and upkeep reads go on', async (t) => {
  const { server, readModelStore, stateStore } = await given(t);
  await readModelStore.getEach(gate);
  server.script = withoutMajority;
  await realClock.sleep(staleMs);
  const where = { field: 'api_keys.digest', equals: 'd' };
  const reads = [
    readModelStore.getEach(gate),
    readModelStore.get('sessions@2.1', 's1'),
    readModelStore.find('projects@4.1', { where, limit: 1 }),
    stateStore.get('k/1'),
  ];
  for (const outcome of await Promise.allSettled(reads)) {
    const error: unknown = outcome.status === 'rejected' ? outcome.reason : null;
    t.true(error instanceof StoreUnavailable);
    t.regex(String(error), /MaxTimeMSExpired/);
  }
  t.true(server.received.some(isLinearizable));
  await loadCheckpoints(readModelStore, ['sessions@2.1']);
  await getRecords(readModelStore, ['members/1']);
  await getRecord(readModelStore, 'members/1');
  t.deepEqual(await stateStore.list('keys/', { limit: 1 }), []);
});

test('A standalone server has no second primary, so reads send no confirmation', async (t) => {
  const { server, readModelStore, topology } = await given(t, {});
  t.is(topology, 'standalone');
  await readModelStore.getEach(gate);
  t.false(server.received.some(isLinearizable));
});
