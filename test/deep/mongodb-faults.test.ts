/*
 * Racing writers in two processes' worth of clients, with random faults between one of them and the server that
 * MONGODB_URL names: what was acknowledged is there, what was refused is not, and documents end at the largest revision.
 * The faults follow from DEEP_SEED; when they strike depends on the machine too.
 */
import test, { type ExecutionContext } from 'ava';

import type { Random } from '../../src/event-sourcing/clock.js';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import type { ReadModelStore } from '../../src/event-sourcing/read-model-store.js';
import type { StateStore } from '../../src/event-sourcing/state-store.js';
import { makeSeededRandom, realClock } from '../support/clock.js';
import { incrementalFold, wholeFold } from '../support/document-writes.js';
import { makeMongoDbProxy, makeTestDatabase, mongoDbUrl, openStoresAt } from '../support/mongodb-server.js';
import type { Fate, TcpProxy } from '../support/tcp-proxy.js';

const seed = Number(process.env['DEEP_SEED'] || '1');
const rounds = Math.ceil(8 * Number(process.env['DEEP_BUDGET'] || '1'));
const limits = { openMs: 20_000, readMs: 500, writeMs: 1500 };
const fates: readonly Fate[] = ['lose-request', 'lose-reply', 'hold-request', 'hold-reply', 'late-request'];
const writers = Array.from({ length: 8 }, (_, n) => n);
const run = mongoDbUrl === undefined ? test.skip : test.serial;
const needs = mongoDbUrl === undefined ? ' (set MONGODB_URL to run this)' : '';

run(
  `acknowledged compare-and-sets are never lost or doubled, refused ones never applied${needs}`,
  async (t) => {
    const { proxy, faulty, direct } = await given(t);
    const seen = { applied: 0, refused: 0, unknown: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const random = makeSeededRandom(seed * 1000 + round);
      const key = `ledger/${round}`;
      const stop = disturb(proxy, random);
      const outcomes = await Promise.all(
        writers.map(async (writer) => {
          const stores = writer % 4 === 3 ? direct : faulty;
          return extendLedger(stores.stateStore, { key, writer, random });
        }),
      );
      stop();
      await settled(direct.stateStore);
      const ledger = entries((await direct.stateStore.get(key))?.value);
      t.is(new Set(ledger).size, ledger.length, `seed ${seed}, round ${round}: an entry is doubled`);
      for (const { entry, outcome } of outcomes.flat()) {
        seen[outcome] += 1;
        if (outcome !== 'unknown')
          t.is(
            ledger.includes(entry),
            outcome === 'applied',
            `seed ${seed}, round ${round}: ${entry} was ${outcome}`,
          );
      }
    }
    t.log(`${rounds} rounds`, seen);
    t.true(seen.applied >= rounds * writers.length);
  },
);

run(`documents end at the largest revision${needs}`, async (t) => {
  const { proxy, faulty, direct } = await given(t);
  let unavailable = 0;
  for (let round = 0; round < rounds; round += 1) {
    const random = makeSeededRandom(seed * 2000 + round);
    const ids = Array.from({ length: 5 }, (_, n) => `${round}-${n}`);
    const largest = new Map(ids.map((id) => [id, -1n]));
    const stop = disturb(proxy, random);
    await Promise.all(
      writers.map(async (writer) => {
        const store = (writer % 4 === 3 ? direct : faulty).readModelStore;
        unavailable += await followStreams(store, { ids, random, largest });
      }),
    );
    stop();
    await settled(direct.stateStore);
    for (const { id, revision, body } of await direct.readModelStore.getMany('v', ids)) {
      t.true(
        revision >= (largest.get(id) ?? 0n),
        `seed ${seed}, round ${round}: ${id} fell back to ${revision}`,
      );
      t.deepEqual(body, { revision: String(revision) });
    }
    // Whoever comes last, with everything: all end there.
    await direct.readModelStore.write(
      'v',
      ids.map((id) => wholeFold(id, 1000n, { revision: '1000' })),
    );
    const final = await direct.readModelStore.getMany('v', ids);
    t.true(final.length === ids.length && final.every(({ revision }) => revision === 1000n));
  }
  t.log(`${rounds} rounds, ${unavailable} calls unavailable`);
});

async function given(t: ExecutionContext) {
  t.timeout(600_000);
  const { name, url: past } = await makeTestDatabase(t);
  const { proxy, url } = await makeMongoDbProxy(t, name);
  const faulty = await openStoresAt(t, url, { clock: realClock, limits });
  const direct = await openStoresAt(t, past, { clock: realClock });
  await direct.readModelStore.ensureCollection('v', []);
  return { proxy, faulty, direct };
}

/** Random faults until it is stopped; then late requests arrive and everything passes. */
function disturb(proxy: TcpProxy, random: Random): () => void {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)];
  proxy.decide = () => (random() < 0.06 ? (pick(fates) ?? 'pass') : 'pass');
  const sudden = [proxy.cut, proxy.reset, proxy.freeze, proxy.thaw, proxy.thaw, proxy.deliverLate];
  const timer = setInterval(() => {
    pick(sudden)?.();
  }, 120);
  return () => {
    clearInterval(timer);
    proxy.decide = () => 'pass';
    proxy.thaw();
    proxy.deliverLate();
  };
}

interface Attempt {
  readonly entry: string;
  readonly outcome: 'applied' | 'refused' | 'unknown';
}

/** Adds entries to one record that all writers share. */
async function extendLedger(
  store: StateStore,
  { key, writer, random }: { readonly key: string; readonly writer: number; readonly random: Random },
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const [steps, stepsMax] = [12, 1_000];
  const isApplied = (): boolean => attempts.some(({ outcome }) => outcome === 'applied');
  // A writer on a slow machine, or in much trouble, goes on until one of its entries is in.
  for (let n = 0; n < steps || (n < stepsMax && !isApplied()); n += 1) {
    const entry = `${writer}.${n}`;
    const record = await orUnavailable(store.get(key));
    if (record === 'unavailable') continue;
    try {
      const value = [...entries(record?.value), entry];
      const version = await store.compareAndSet(key, record?.version ?? null, value);
      attempts.push({ entry, outcome: version === null ? 'refused' : 'applied' });
    } catch (error) {
      // Without a doubt about its outcome an unavailable store has done nothing.
      if (error instanceof OutcomeUnknown) attempts.push({ entry, outcome: 'unknown' });
      else if (error instanceof StoreUnavailable) attempts.push({ entry, outcome: 'refused' });
      else throw error;
    }
    await realClock.sleep(random() * 10);
  }
  return attempts;
}

/** Folds streams forward as projectors do, in steps of a batch; counts the calls that failed. */
async function followStreams(
  store: ReadModelStore,
  {
    ids,
    random,
    largest,
  }: { readonly ids: readonly string[]; readonly random: Random; readonly largest: Map<string, bigint> },
): Promise<number> {
  let unavailable = 0;
  for (let step = 0; step < 10; step += 1) {
    const stored = await orUnavailable(store.getMany('v', ids));
    if (stored === 'unavailable') {
      unavailable += 1;
      continue;
    }
    const at = new Map(stored.map(({ id, revision }) => [id, revision]));
    const writes = ids.map((id) => {
      const from = at.get(id);
      const revision = (from ?? -1n) + BigInt(1 + Math.floor(random() * 3));
      const body = { revision: String(revision) };
      const whole = from === undefined || random() < 0.3;
      return whole ? wholeFold(id, revision, body) : incrementalFold(id, from, revision, body);
    });
    const outcomes = await orUnavailable(store.write('v', writes));
    if (outcomes === 'unavailable') unavailable += 1;
    for (const [n, { document, foldedFrom }] of writes.entries()) {
      const known =
        outcomes !== 'unavailable' && (foldedFrom === 'whole-stream' || outcomes[n] === 'applied');
      const before = largest.get(document.id) ?? -1n;
      if (known && document.revision > before) largest.set(document.id, document.revision);
    }
  }
  return unavailable;
}

/** What is on the wire is done before this returns: the server of CI answers in order of arrival. */
async function settled(store: StateStore): Promise<void> {
  await realClock.sleep(100);
  await store.ping();
}

function entries(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

async function orUnavailable<T>(call: Promise<T>): Promise<T | 'unavailable'> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof StoreUnavailable) return 'unavailable';
    throw error;
  }
}
