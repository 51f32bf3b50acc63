import { pagesOf, type StateRecord, type StateStore } from '../../event-sourcing/ports/state-store.js';
import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import { StoreDamaged, StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { makeLru, ownBytes } from '../../kit/lru.js';
import {
  changeRecord,
  type FoundRecord,
  type RecordChange,
} from '../../event-sourcing/ports/change-record.js';
import { DoesNotOpen, KeyMissing, KeyDestroyed } from './errors.js';
import {
  openEnvelope,
  sealEnvelope,
  dataKeyPrefix,
  dataKeyRecord,
  type LastingScope,
  type KeyScope,
  scopeParts,
} from './envelope.js';
import type { Keyring } from '../rings/keyring.js';
import type { RandomBytes } from './digests.js';
import { sealedSchema } from '../../event-sourcing/ports/events.js';
import type { Sealed } from '../../event-sourcing/ports/domain-event.js';

const dataKeyBytes = 32;
/** Another process may use a destroyed key for this long. */
const cacheTimeMs = 60_000;
const cacheEntriesMax = 10_000;
const writeTriesMax = 5;
const sweepPageSize = 200;
/** The number of records that a sweep rewraps at once. Embedded stores put concurrent writes into one transaction. */
const rewrapsAtOnce = 20;

/** The storage format of a data key's record: wrapped by a master key, or the marker that it was destroyed. */
const recordSchema = z.union([
  z.strictObject({ wrapped: z.string(), master_kid: z.string(), made_at: z.string() }),
  z.strictObject({ destroyed_at: z.string() }),
]);
type DataKeyRecord = z.output<typeof recordSchema>;

type FoundDataKey = Buffer | 'destroyed' | 'absent';

/** The result of a sweep. `byMasterKey` counts the visited records by the master key that wraps them now. */
interface RewrapReport {
  readonly rewrapped: number;
  /** Records whose master key is not in the ring. The operator puts that key back and sweeps again. */
  readonly unreadable: number;
  readonly byMasterKey: ReadonlyMap<string, number>;
}

interface DataKeysDeps {
  readonly stateStore: StateStore;
  readonly masterKeys: Keyring;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** Makes data keys, one for each lasting scope. A master key wraps them in the state store. */
export function makeDataKeys(deps: DataKeysDeps) {
  const { stateStore, masterKeys, clock, randomBytes } = deps;
  const cache = makeLru<{ readonly found: Buffer | 'destroyed'; readonly readAt: number }>(cacheEntriesMax);
  const reads = new Map<string, Promise<FoundDataKey>>();

  function remember(record: string, found: Buffer | 'destroyed', readAt: number): void {
    // A read that began before a destruction must not restore the key.
    if (cache.peek(record)?.found === 'destroyed') return;
    cache.set(record, { found: found === 'destroyed' ? found : ownBytes(found), readAt });
  }

  function wrap(record: string, key: Buffer): { wrapped: string; master_kid: string } {
    const master = masterKeys.active();
    const wrapped = sealEnvelope(master.key, ['data key', record, master.kid], key, randomBytes);
    return { wrapped, master_kid: master.kid };
  }

  function unwrap(record: string, masterKid: string, wrapped: string): Buffer {
    const master = masterKeys.find(masterKid);
    if (master === undefined)
      throw new KeyMissing(`master key ${masterKid} is not in MASTER_KEYS; put it back at the list's end`);
    try {
      return openEnvelope(master, ['data key', record, masterKid], wrapped);
    } catch (error) {
      if (!(error instanceof DoesNotOpen)) throw error;
      throw new StoreDamaged(
        `the data key ${record} does not open with master key ${masterKid}: the record was changed, or that id now names another key`,
      );
    }
  }

  function open(record: string, value: DataKeyRecord): Buffer | 'destroyed' {
    return 'destroyed_at' in value ? 'destroyed' : unwrap(record, value.master_kid, value.wrapped);
  }

  async function read(record: string): Promise<FoundDataKey> {
    const readAt = clock.steadyMs();
    const stored = await stateStore.get(record);
    if (stored === null) return 'absent';
    const found = open(record, parseRecord(record, stored.value));
    remember(record, found, readAt);
    return found;
  }

  function remembered(record: string): Buffer | 'destroyed' | null {
    const cached = cache.get(record);
    if (cached === undefined) return null;
    const age = clock.steadyMs() - cached.readAt;
    return cached.found === 'destroyed' || age < cacheTimeMs ? cached.found : null;
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

  /** Changes the record of a data key. A read tells what became of a write with an unknown outcome. */
  async function change<Written, Kept>(
    record: string,
    decide: (found: FoundRecord<DataKeyRecord> | null) => RecordChange<Written, Kept>,
    { first, problem }: { readonly first?: StateRecord | null; readonly problem: string },
  ): Promise<Written | Kept> {
    const schema = { parse: (value: unknown) => parseRecord(record, value) };
    const changed = await changeRecord(stateStore, { key: record, schema }, decide, {
      tries: writeTriesMax,
      unknownOutcome: 'retry',
      ...(first === undefined ? {} : { first }),
    });
    if (changed === null) throw new StoreUnavailable(problem);
    return 'kept' in changed ? changed.kept : changed.result;
  }

  async function make(record: string): Promise<Buffer | 'destroyed'> {
    const readAt = clock.steadyMs();
    const key = randomBytes(dataKeyBytes);
    // Every attempt writes the same value, so a late write stores no other key.
    const write = { made_at: clock.now().toISOString(), ...wrap(record, key) };
    const made = await change<Buffer, Buffer | 'destroyed'>(
      record,
      (found) => (found === null ? { write, result: key } : { keep: open(record, found.value) }),
      // No read before the write: most scopes are new when they are first sealed for, and `make` finds an existing key.
      { first: null, problem: 'a data key could not be stored' },
    );
    remember(record, made, readAt);
    return made;
  }

  /** Rewraps one record if needed. Returns the id of the master key that wraps it afterwards; null for a marker. */
  async function rewrapRecord(first: StateRecord, count: () => void): Promise<string | null> {
    const { key: record } = first;
    const changed = await change(
      record,
      (found) => {
        if (found === null || 'destroyed_at' in found.value) return { keep: null };
        const { master_kid: kid, wrapped, made_at: madeAt } = found.value;
        if (kid === masterKeys.active().kid) return { keep: { kid, isNew: false } };
        const next = { ...wrap(record, unwrap(record, kid, wrapped)), made_at: madeAt };
        return { write: next, result: { kid: next.master_kid, isNew: true } };
      },
      { first, problem: 'a data key could not be wrapped again' },
    );
    if (changed?.isNew === true) count();
    return changed?.kid ?? null;
  }

  return {
    /** Finds the scope's key. @throws KeyMissing, StoreUnavailable, StoreDamaged */
    find: (scope: LastingScope) => findRecord(dataKeyRecord(scope)),
    /** Returns the scope's key, made on first use and durable before this resolves. @throws as `find` */
    obtain: async (scope: LastingScope): Promise<Buffer | 'destroyed'> => {
      const record = dataKeyRecord(scope);
      return remembered(record) ?? make(record);
    },
    /** Leaves a marker, even if there was no key, so that the scope never gets one. @throws StoreUnavailable */
    destroy: async (scope: LastingScope) => {
      const record = dataKeyRecord(scope);
      const marker = { destroyed_at: clock.now().toISOString() };
      await change(
        record,
        (found) =>
          found !== null && 'destroyed_at' in found.value ? { keep: null } : { write: marker, result: null },
        { problem: 'a data key could not be destroyed' },
      );
      remember(record, 'destroyed', clock.steadyMs());
    },
    /**
     * Wraps every data key with the active master key. No sealed value changes. A process that has not read the new ring
     * may still wrap with the old key, so the operator sweeps again a minute later. The old key may be removed when its
     * count is 0. An interrupted sweep starts again and skips the finished records.
     */
    rewrap: async (): Promise<RewrapReport> => {
      const byMasterKey = new Map<string, number>();
      let rewrapped = 0;
      let unreadable = 0;
      for await (const page of pagesOf(stateStore, dataKeyPrefix, sweepPageSize)) {
        for (let first = 0; first < page.length; first += rewrapsAtOnce) {
          await Promise.all(page.slice(first, first + rewrapsAtOnce).map(rewrapOne));
        }
      }
      return { rewrapped, unreadable, byMasterKey };

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
    countByMasterKey: async (): Promise<ReadonlyMap<string, number>> => {
      const counts = new Map<string, number>();
      for await (const page of pagesOf(stateStore, dataKeyPrefix, sweepPageSize)) {
        for (const stored of page) {
          const value = parseRecord(stored.key, stored.value);
          if ('master_kid' in value) addOne(counts, value.master_kid);
        }
      }
      return counts;
    },
  };
}

function addOne(counts: Map<string, number>, kid: string): void {
  counts.set(kid, (counts.get(kid) ?? 0) + 1);
}

function parseRecord(record: string, value: unknown): DataKeyRecord {
  const result = recordSchema.safeParse(value);
  if (!result.success)
    throw new StoreDamaged(`the record ${record} of the state store is not a data key; restore it`);
  return result.data;
}

export type { KeyScope, LastingScope } from './envelope.js';

/** The result of opening a value after its scope's key was destroyed. */
export const erased: unique symbol = Symbol('erased');

/** Seals and opens single values. A sealed value opens only for the scope and field that it was sealed for. */
export type Sealer = ReturnType<typeof makeSealer>;

/** Makes the sealer over the state store that keeps the wrapped data keys. */
export function makeSealer(deps: DataKeysDeps) {
  const { masterKeys, randomBytes } = deps;
  const dataKeys = makeDataKeys(deps);
  return {
    /** The data key is durable before this resolves. @throws KeyDestroyed, KeyMissing, StoreUnavailable, StoreDamaged */
    seal: async (scope: KeyScope, field: string, plaintext: string): Promise<Sealed> => {
      const context = valueContext(scope, field);
      const bytes = Buffer.from(plaintext, 'utf8');
      if (scope.kind === 'reply') {
        const { kid, key } = masterKeys.active();
        return sealedSchema.parse(`v1.${kid}.${sealEnvelope(key, context, bytes, randomBytes)}`);
      }
      const key = await dataKeys.obtain(scope);
      if (key === 'destroyed') throw new KeyDestroyed(`the data key of this ${scope.kind} was destroyed`);
      return sealedSchema.parse(`v1.${sealEnvelope(key, context, bytes, randomBytes)}`);
    },
    /** Opens a sealed value. @throws DoesNotOpen, KeyMissing, StoreUnavailable, StoreDamaged */
    open: async (scope: KeyScope, field: string, sealed: Sealed): Promise<string | typeof erased> => {
      const { masterKid, envelope } = takeApart(sealed);
      const context = valueContext(scope, field);
      if (scope.kind === 'reply') {
        if (masterKid === null) throw new DoesNotOpen();
        const key = masterKeys.find(masterKid);
        if (key === undefined) throw new KeyMissing(`master key ${masterKid} is not in MASTER_KEYS`);
        return openEnvelope(key, context, envelope).toString('utf8');
      }
      if (masterKid !== null) throw new DoesNotOpen();
      const key = await dataKeys.find(scope);
      if (key === 'destroyed') return erased;
      // A destroyed key leaves a marker, so a key without a record is lost, not erased.
      if (key === 'absent') throw new KeyMissing(`the state store has lost the data key of a ${scope.kind}`);
      return openEnvelope(key, context, envelope).toString('utf8');
    },
    /** Destroys the key: here at once, elsewhere within 60 s. Idempotent. @throws StoreUnavailable, StoreDamaged */
    destroy: dataKeys.destroy,
    rewrap: dataKeys.rewrap,
    countByMasterKey: dataKeys.countByMasterKey,
  };
}

function valueContext(scope: KeyScope, field: string): readonly string[] {
  return ['value', field, ...scopeParts(scope)];
}

function takeApart(sealed: string): { readonly masterKid: string | null; readonly envelope: string } {
  const parts = sealed.split('.');
  const [version, second, third] = parts;
  if (version !== 'v1' || second === undefined || parts.length > 3) throw new DoesNotOpen();
  return third === undefined ? { masterKid: null, envelope: second } : { masterKid: second, envelope: third };
}
