import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../event-sourcing/errors.js';
import { makeLru } from '../event-sourcing/lru.js';
import type { StateRecord, StateStore } from '../event-sourcing/state-store.js';
import { DoesNotOpen, KeyMissing } from './errors.js';
import { openEnvelope, sealEnvelope } from './envelope.js';
import { dataKeyPrefix, dataKeyRecord } from './key-scope.js';
import type { LastingScope } from './key-scope.js';
import type { Keyring } from './keyring.js';
import type { RandomBytes } from './random-bytes.js';

const dataKeyBytes = 32;
const writeTriesMax = 5;
const sweepPageSize = 200;
/** Records that a sweep rewraps at once: embedded stores put what comes together into one transaction. */
const rewrapsAtOnce = 20;

/** The storage format of a data key's record: wrapped by a master key, or the marker that it was destroyed. */
const recordSchema = z.union([
  z.strictObject({ wrapped: z.string(), master_kid: z.string(), made_at: z.string() }),
  z.strictObject({ destroyed_at: z.string() }),
]);

export type FoundDataKey = Buffer | 'destroyed' | 'absent';

/** What a sweep did. `byMasterKey` counts the records that it looked at by the master key that wraps them now. */
export interface RewrapReport {
  readonly rewrapped: number;
  /** Records whose master key is not in the ring: put that key back and sweep again. */
  readonly unreadable: number;
  readonly byMasterKey: ReadonlyMap<string, number>;
  /** Where the next part of the sweep begins; null when this one reached the end. */
  readonly next: string | null;
}

export interface SweepOptions {
  /** `next` of the part before; the beginning when left out. */
  readonly after?: string;
  /** Look at so many pages of 200 records; all when left out. */
  readonly pagesMax?: number;
}

/** Data keys, one a lasting scope, wrapped by a master key in the state store. */
export interface DataKeys {
  /** @throws KeyMissing, StoreUnavailable, StoreDamaged */
  find(scope: LastingScope): Promise<FoundDataKey>;
  /** The scope's key, made on first use and durable before this resolves. @throws as `find` */
  obtain(scope: LastingScope): Promise<Buffer | 'destroyed'>;
  /** Leaves a marker, also where there was no key, so that none is ever made. @throws StoreUnavailable */
  destroy(scope: LastingScope): Promise<void>;
  /**
   * Wraps every data key with the active master key; no sealed value changes. A process that has not read the new
   * ring yet may still wrap with the old key, so sweep again a minute later; the old key may go when its count is 0.
   * A sweep that was cut off is simply begun anew: what is done is passed over.
   */
  rewrap(options?: SweepOptions): Promise<RewrapReport>;
  /** How many data keys each master key wraps; nothing is changed. */
  countByMasterKey(): Promise<ReadonlyMap<string, number>>;
}

export interface DataKeysDeps {
  readonly stateStore: StateStore;
  readonly masterKeys: Keyring;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Milliseconds; 60,000 when left out: how long another process may still use a destroyed key. */
  readonly cacheTimeMs?: number;
  /** 10,000 when left out. */
  readonly cacheEntriesMax?: number;
}

interface Cached {
  readonly found: Buffer | 'destroyed';
  readonly readAt: number;
}

/** @see DataKeys */
export function makeDataKeys(deps: DataKeysDeps): DataKeys {
  const { stateStore, masterKeys, clock, randomBytes } = deps;
  const cacheTimeMs = deps.cacheTimeMs ?? 60_000;
  const cache = makeLru<Cached>(deps.cacheEntriesMax ?? 10_000);
  const reads = new Map<string, Promise<FoundDataKey>>();

  function remember(record: string, found: Buffer | 'destroyed', readAt: number): void {
    // A read that began before a destruction must not bring the key back.
    if (cache.peek(record)?.found === 'destroyed') return;
    cache.set(record, { found, readAt });
  }

  function wrap(record: string, key: Buffer): { wrapped: string; master_kid: string } {
    const master = masterKeys.active();
    const wrapped = sealEnvelope(master.key, ['data key', record, master.kid], key, randomBytes);
    return { wrapped, master_kid: master.kid };
  }

  function unwrap(record: string, masterKid: string, wrapped: string): Buffer {
    const master = masterKeys.find(masterKid);
    if (master === undefined) {
      throw new KeyMissing(`master key ${masterKid} is not in MASTER_KEYS; put it back at the list's end`);
    }
    try {
      return openEnvelope(master, ['data key', record, masterKid], wrapped);
    } catch (error) {
      if (!(error instanceof DoesNotOpen)) throw error;
      throw new StoreDamaged(
        `the data key ${record} does not open with master key ${masterKid}: the record was changed, or that id now names another key`,
      );
    }
  }

  async function read(record: string): Promise<FoundDataKey> {
    const readAt = clock.now().getTime();
    const stored = await stateStore.get(record);
    if (stored === null) return 'absent';
    const value = parseRecord(stored);
    const found =
      'destroyed_at' in value ? ('destroyed' as const) : unwrap(record, value.master_kid, value.wrapped);
    remember(record, found, readAt);
    return found;
  }

  function remembered(record: string): Buffer | 'destroyed' | null {
    const cached = cache.get(record);
    if (cached === undefined) return null;
    const age = clock.now().getTime() - cached.readAt;
    return cached.found === 'destroyed' || (age >= 0 && age < cacheTimeMs) ? cached.found : null;
  }

  function findRecord(record: string): Promise<FoundDataKey> {
    const known = remembered(record);
    if (known !== null) return Promise.resolve(known);
    const running = reads.get(record);
    if (running !== undefined) return running;
    const reading = read(record).finally(() => reads.delete(record));
    reads.set(record, reading);
    return reading;
  }

  /** Compare-and-set whose outcome may stay open: false says that a read has to tell. */
  async function tryWrite(
    record: string,
    expected: string | null,
    value: z.output<typeof recordSchema>,
  ): Promise<boolean> {
    try {
      return (await stateStore.compareAndSet(record, expected, value)) !== null;
    } catch (error) {
      if (error instanceof OutcomeUnknown) return false;
      throw error;
    }
  }

  async function make(record: string): Promise<Buffer | 'destroyed'> {
    const madeAt = clock.now();
    const key = randomBytes(dataKeyBytes);
    // Every try writes the same value, so that a write which arrives late brings no other key.
    const value = { made_at: madeAt.toISOString(), ...wrap(record, key) };
    for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
      if (await tryWrite(record, null, value)) {
        remember(record, key, madeAt.getTime());
        return key;
      }
      const found = await read(record);
      if (found !== 'absent') return found;
    }
    throw new StoreUnavailable('a data key could not be stored');
  }

  /** Rewraps one record if needed and returns the id of the master key that wraps it afterwards; null for a marker. */
  async function rewrapRecord(first: StateRecord, count: () => void): Promise<string | null> {
    let stored: StateRecord | null = first;
    for (let attempt = 0; stored !== null && attempt < writeTriesMax; attempt += 1) {
      const value = parseRecord(stored);
      if ('destroyed_at' in value) return null;
      const activeKid = masterKeys.active().kid;
      if (value.master_kid === activeKid) return activeKid;
      const key = unwrap(stored.key, value.master_kid, value.wrapped);
      const next = { ...wrap(stored.key, key), made_at: value.made_at };
      if (await tryWrite(stored.key, stored.version, next)) {
        count();
        return next.master_kid;
      }
      stored = await stateStore.get(stored.key);
    }
    if (stored === null) return null;
    throw new StoreUnavailable('a data key could not be wrapped anew');
  }

  function pageAfter(after: string | null): Promise<readonly StateRecord[]> {
    return stateStore.list(dataKeyPrefix, { limit: sweepPageSize, ...(after === null ? {} : { after }) });
  }

  return {
    find: (scope) => findRecord(dataKeyRecord(scope)),

    obtain: async (scope) => {
      const record = dataKeyRecord(scope);
      // Not read before: most scopes are sealed for when they are new, and making refuses where there is a key.
      return remembered(record) ?? make(record);
    },

    destroy: async (scope) => {
      const record = dataKeyRecord(scope);
      const destroyedAt = clock.now();
      for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
        const stored = await stateStore.get(record);
        const gone = stored !== null && 'destroyed_at' in parseRecord(stored);
        const marker = { destroyed_at: destroyedAt.toISOString() };
        if (gone || (await tryWrite(record, stored?.version ?? null, marker))) {
          cache.set(record, { found: 'destroyed', readAt: destroyedAt.getTime() });
          return;
        }
      }
      throw new StoreUnavailable('a data key could not be destroyed');
    },

    rewrap: async ({ after, pagesMax = Infinity } = {}) => {
      const byMasterKey = new Map<string, number>();
      let rewrapped = 0;
      let unreadable = 0;
      let next = after ?? null;
      for (let pages = 0; pages < pagesMax; pages += 1) {
        const page = await pageAfter(next);
        for (let first = 0; first < page.length; first += rewrapsAtOnce) {
          await Promise.all(page.slice(first, first + rewrapsAtOnce).map(rewrapOne));
        }
        next = page.at(-1)?.key ?? null;
        if (next === null) break;
      }
      return { rewrapped, unreadable, byMasterKey, next };

      async function rewrapOne(stored: StateRecord): Promise<void> {
        try {
          const kid = await rewrapRecord(stored, () => (rewrapped += 1));
          if (kid !== null) addOne(byMasterKey, kid);
        } catch (error) {
          if (!(error instanceof KeyMissing)) throw error;
          unreadable += 1;
        }
      }
    },

    countByMasterKey: async () => {
      const counts = new Map<string, number>();
      let next: string | null = null;
      do {
        const page: readonly StateRecord[] = await pageAfter(next);
        for (const stored of page) {
          const value = parseRecord(stored);
          if ('master_kid' in value) addOne(counts, value.master_kid);
        }
        next = page.at(-1)?.key ?? null;
      } while (next !== null);
      return counts;
    },
  };
}

function addOne(counts: Map<string, number>, kid: string): void {
  counts.set(kid, (counts.get(kid) ?? 0) + 1);
}

function parseRecord(stored: StateRecord): z.output<typeof recordSchema> {
  const result = recordSchema.safeParse(stored.value);
  if (!result.success) {
    throw new StoreDamaged(`the record ${stored.key} of the state store is not a data key; restore it`);
  }
  return result.data;
}
