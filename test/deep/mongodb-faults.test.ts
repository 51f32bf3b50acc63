/*
 * Races writers of two clients, with random faults between one client and the server that MONGODB_URL names.
 * Acknowledged writes are stored, refused ones are not, and documents end at the largest revision. The faults follow
 * from DEEP_SEED; their timing also depends on the machine.
 */
import test, { type ExecutionContext } from 'ava';
import type { Random } from '../../src/kit/time/clock.js';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { incrementalFold, wholeFold } from '../support/clients/document-writes.js';
import {
  makeMongoDbProxy,
  makeTestDatabase,
  mongoDbUrl,
  openStoresAt,
} from '../support/servers/store-servers.js';
import type { Fate, TcpProxy } from '../support/servers/proxies.js';
import { orUnavailable } from '../support/clients/store-calls.js';

const seed = Number(process.env['DEEP_SEED'] || '1');
const rounds = Math.ceil(8 * Number(process.env['DEEP_BUDGET'] || '1'));
const limits = { openMs: 20_000, readMs: 500, writeMs: 1500, indexMs: 1500 };
const fates: readonly Fate[] = ['lose-request', 'lose-reply', 'hold-request', 'hold-reply', 'late-request'];
const writers = Array.from({ length: 8 }, (_, n) => n);
const run = mongoDbUrl === undefined ? test.skip : test.serial;
const needs = mongoDbUrl === undefined ? ' (set MONGODB_URL to run this)' : '';

run(
  `Acknowledged compare-and-sets are never lost or doubled, and refused ones never apply${needs}`,
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

run(`Documents end at the largest revision${needs}`, async (t) => {
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
    // A final fold of the whole stream reaches every document.
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

/** Causes random faults until the returned function stops them; then late requests arrive and every request passes. */
function disturb(proxy: TcpProxy, random: Random): () => void {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)];
  proxy.decide = () => (random() < 0.06 ? (pick(fates) ?? 'pass') : 'pass');
  const sudden = [proxy.cut, proxy.reset, proxy.freeze, proxy.thaw, proxy.thaw, proxy.deliverLate];
  const timer = setInterval(() => pick(sudden)?.(), 120);
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
  // On a slow machine, or after many faults, a writer continues until one of its entries is stored.
  for (let n = 0; n < steps || (n < stepsMax && !isApplied()); n += 1) {
    const entry = `${writer}.${n}`;
    const record = await orUnavailable(store.get(key));
    if (record === 'unavailable') continue;
    try {
      const value = [...entries(record?.value), entry];
      const version = await store.compareAndSet(key, record?.version ?? null, value);
      attempts.push({ entry, outcome: version === null ? 'refused' : 'applied' });
    } catch (error) {
      // A store that is unavailable with a known outcome has written nothing.
      if (error instanceof OutcomeUnknown) attempts.push({ entry, outcome: 'unknown' });
      else if (error instanceof StoreUnavailable) attempts.push({ entry, outcome: 'refused' });
      else throw error;
    }
    await realClock.sleep(random() * 10);
  }
  return attempts;
}

/** Folds streams forward in batches, as projectors do. Returns the number of failed calls. */
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

/** Waits until the requests on the wire are handled: the server of CI answers in order of arrival. */
async function settled(store: StateStore): Promise<void> {
  await realClock.sleep(100);
  await store.ping();
}

function entries(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
