import { createHash } from 'node:crypto';
import test from 'ava';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { Sealed } from '../../src/event-sourcing/ports/domain-event.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { KeyDestroyed } from '../../src/keys/sealing/errors.js';
import { makeKeyring, type Keyring } from '../../src/keys/rings/keyring.js';
import { type LastingScope, type Sealer, erased, makeSealer } from '../../src/keys/sealing/sealer.js';
import { pick, makeSeededRandom, makeTestClock } from '../support/fakes/clock.js';
import { makeMemoryStateStore } from '../support/fakes/memory-state-store.js';
import { testHistories } from '../support/simulation/campaigns.js';

/*
 * Several processes seal, open, destroy and rotate over one state store that loses answers, applies writes late and is
 * sometimes away.
 */
const m1 = { kid: 'm1', key: Buffer.alloc(32, 1) };
const m2 = { kid: 'm2', key: Buffer.alloc(32, 2) };
const scopes: readonly LastingScope[] = [
  { kind: 'person', userId: 'a' },
  { kind: 'person', userId: 'b' },
  { kind: 'storage-credentials', projectId: 'p', storageId: 's', version: 1 },
];

interface Kept {
  readonly scope: LastingScope;
  readonly plaintext: string;
  readonly sealed: Sealed;
}

testHistories(
  test,
  'A sealed value opens in every process until its key is destroyed, under any faults of the store',
  {
    ...{ seed: Date.now() % 1_000_000, histories: 2_000 },
    run: async (seed) => {
      const seen = { sealed: 0, erased: 0, refused: 0, failed: 0 };
      return { problem: await runHistory(seed, seen), ...seen };
    },
    hasMet: (sums, histories) => Object.values(sums).every((count) => count > histories / 20),
  },
);

type Seen = Record<'sealed' | 'erased' | 'refused' | 'failed', number>;

async function runHistory(seed: number, seen: Seen): Promise<string | null> {
  const random = makeSeededRandom(seed);
  const clock = makeTestClock();
  const real = makeMemoryStateStore({ clock });
  const late: (() => Promise<unknown>)[] = [];
  const store = faulty(real, random, late);
  const randomBytes = seededBytes(seed);
  const sealerOf = (masterKeys: Keyring, stateStore: StateStore) =>
    makeSealer({ stateStore, masterKeys, clock, randomBytes });
  // The third process has read the rotated ring already.
  const processes = [
    [m1, m2],
    [m1, m2],
    [m2, m1],
  ].map((keys) => sealerOf(makeKeyring(keys), store));
  const kept: Kept[] = [];
  const destroyed = new Set<LastingScope>();

  async function act(): Promise<void> {
    const [sealer, scope, kind] = [pick(random, processes), pick(random, scopes), random()];
    if (kind < 0.6) {
      const plaintext = String(random());
      kept.push({ scope, plaintext, sealed: await sealer.seal(scope, 'field', plaintext) });
      seen.sealed += 1;
    } else if (kind < 0.7) {
      await sealer.destroy(scope);
      destroyed.add(scope);
    } else if (kind < 0.8) {
      await sealer.rewrap();
    } else if (kept.length > 0) {
      const value = pick(random, kept);
      await sealer.open(value.scope, 'field', value.sealed);
    }
  }

  async function actUnderFaults(): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof KeyDestroyed) seen.refused += 1;
      else if (error instanceof StoreUnavailable) seen.failed += 1;
      else throw error;
    }
  }

  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 6 }, actUnderFaults));
    if (random() < 0.3) clock.advance(60_000);
    if (random() < 0.5) for (const apply of late.splice(0)) await apply();
  }
  for (const apply of late.splice(0)) await apply();

  const before = await judge(sealerOf(makeKeyring([m1, m2]), real), { kept, destroyed });
  if (before.problem !== null) return before.problem;
  seen.erased += before.erased;
  const { unreadable } = await sealerOf(makeKeyring([m2, m1]), real).rewrap();
  const after = await judge(sealerOf(makeKeyring([m2]), real), { kept, destroyed });
  if (unreadable > 0 || after.erased !== before.erased) return 'rotation lost a value';
  return after.problem;
}

/** Opens every kept value in a process without a cache. */
async function judge(
  sealer: Sealer,
  { kept, destroyed }: { readonly kept: readonly Kept[]; readonly destroyed: ReadonlySet<LastingScope> },
): Promise<{ readonly problem: string | null; readonly erased: number }> {
  let count = 0;
  for (const { scope, plaintext, sealed } of kept) {
    const opened = await sealer.open(scope, 'field', sealed);
    if (opened === erased) count += 1;
    else if (destroyed.has(scope))
      return { problem: 'a value opens after its key was destroyed', erased: count };
    else if (opened !== plaintext) return { problem: 'a value opens as another', erased: count };
  }
  return { problem: null, erased: count };
}

/** Makes a store that answers in random order. A write may fail, apply without an answer, or apply much later. */
function faulty(store: StateStore, random: () => number, late: (() => Promise<unknown>)[]): StateStore {
  const wait = async () => {
    for (let turns = Math.floor(random() * 6); turns > 0; turns -= 1) await Promise.resolve();
  };
  return {
    ...store,
    get: async (key) => {
      await wait();
      if (random() < 0.03) throw new StoreUnavailable('away');
      const record = await store.get(key);
      await wait();
      return record;
    },
    compareAndSet: async (...args) => {
      await wait();
      const fate = random();
      if (fate < 0.05) throw new StoreUnavailable('away');
      if (fate < 0.12) {
        late.push(() => store.compareAndSet(...args));
        throw new OutcomeUnknown('late');
      }
      const version = await store.compareAndSet(...args);
      await wait();
      if (fate < 0.25) throw new OutcomeUnknown('answer lost');
      return version;
    },
  };
}

/** Makes bytes that never repeat in one history. */
function seededBytes(seed: number): (size: number) => Buffer {
  let drawn = 0;
  return (size) => {
    drawn += 1;
    return createHash('sha512').update(`${seed}/${drawn}`).digest().subarray(0, size);
  };
}
