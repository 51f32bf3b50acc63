import { z } from 'zod';
import { makeKeyedMutex } from '../../kit/keyed-mutex.js';
import { Overloaded } from '../../kit/overloaded.js';
import { entityId, instant } from '../../validation/fields.js';
import type { Clock } from '../../kit/time/clock.js';
import type { StateRecord, StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';
import { makeLru } from '../../kit/lru.js';

/**
 * Limits the things of one owner exactly, also when commands race. A command claims a place in a record of the owner,
 * by compare-and-set, before it appends. A claim counts until the view shows its thing. A claim whose thing never
 * appears is dropped (docs/decisions/projects-and-places.md#0009-places-are-claimed).
 */
export interface Places {
  /**
   * Claims a place for a thing, which the caller appends at once. A thing that has a place keeps it.
   * @throws the error of `refuse`, when nothing was written; Overloaded, StoreUnavailable
   */
  take(ownerId: string, thingId: string): Promise<void>;
  /** Notes that an owner was made at this time, without any thing. So its first claim in this process reads nothing. */
  noteNew(ownerId: string, madeAt: Date): void;
}

export interface PlacesDeps {
  readonly stateStore: StateStore;
  readonly clock: Clock;
  /** The record of an owner has the key `<name>/<owner id>`. */
  readonly name: string;
  readonly max: number;
  /** Reads the owner's things that hold a place in the view, at most `limit` ids. */
  readonly inView: (ownerId: string, limit: number) => Promise<readonly string[]>;
  /**
   * Reads the stream of a thing that the view does not show. `absent`: it may still come, while its claim is young.
   */
  readonly inLog: (thingId: string, ownerId: string) => Promise<'absent' | 'holds-a-place' | 'holds-none'>;
  readonly refuse: () => never;
}

/** At this age a claim has no running command: 32 s for a load and an append (src/event-sourcing/deciding/README.md#command-queue-and-retries), 28 s for clock skew. */
const claimMs = 60_000;
/** The lifetime of a record: longer than any view lags. */
const recordMs = 86_400_000;
/** An owner is new for so long. Any record of its claims is still stored then, so an insert beside one fails. */
const newMs = 3_600_000;
/** Commands that may wait in this process for the record of one owner. */
const waitingMax = 1_000;
/** Records that a process caches, each of at most some 8 kB. */
const cachedMax = 1_000;

/**
 * Storage format of the record. `shown`: the number of things that the view showed when the claims were last compared
 * with it. Every thing that holds a place is in that number or has a claim.
 */
const recordSchema = z.strictObject({
  claims: z.array(z.strictObject({ id: entityId, at: instant })),
  shown: z.int().nonnegative(),
});
type PlacesRecord = z.output<typeof recordSchema>;
type Claim = PlacesRecord['claims'][number];

export function makePlaces({ stateStore, clock, name, max, inView, inLog, refuse }: PlacesDeps): Places {
  // Only other processes race for the record. Each race that is lost is a place that another process took.
  const queued = makeKeyedMutex({ waitingMax });
  const tries = 2 * max;
  /** The records as this process has written them last, by owner. */
  const cached = makeLru<StateRecord>(cachedMax);
  /** The times until which owners are new. */
  const newUntil = makeLru<number>(cachedMax);

  return {
    noteNew: (ownerId, madeAt) => {
      newUntil.set(ownerId, madeAt.getTime() + newMs);
    },
    take: (ownerId, thingId) =>
      queued(ownerId, async () => {
        const key = `${name}/${ownerId}`;
        const first = takeCached(ownerId, thingId);
        let isNew = takeNew(ownerId) && first === null;
        const taken = await changeRecord(
          stateStore,
          { key, schema: recordSchema },
          (found) => {
            if (!isNew) return claim(ownerId, thingId, found?.value ?? null);
            // Only for the first attempt: when its insert fails, another process has claimed.
            isNew = false;
            return write([], thingId, 0);
          },
          { tries, unknownOutcome: 'retry', ...(first === null && !isNew ? {} : { first }) },
        );
        if (taken === null) throw new Overloaded(`a place in ${name} was lost to others ${tries} times`);
        if ('version' in taken) cached.set(ownerId, { key, version: taken.version, ...taken.result });
      }),
  };

  /**
   * Takes the cached record out, so that a failure leaves none. Null where the claim needs a read: a claim on a stale record
   * fails at its compare-and-set, but a refusal writes nothing.
   */
  function takeCached(ownerId: string, thingId: string): StateRecord | null {
    const record = cached.get(ownerId) ?? null;
    cached.delete(ownerId);
    return record !== null && isWithin(recordSchema.parse(record.value), thingId) ? record : null;
  }

  /** Returns whether the owner is new, and forgets it: a claim follows. */
  function takeNew(ownerId: string): boolean {
    const until = newUntil.get(ownerId);
    newUntil.delete(ownerId);
    return until !== undefined && clock.now().getTime() < until;
  }

  /** Returns whether the record alone shows that the thing has a place. */
  function isWithin(record: PlacesRecord, thingId: string): boolean {
    // Claims and `shown` are an upper bound: a thing may be in both, or gone.
    return hasClaim(record.claims, thingId) || record.shown + record.claims.length < max;
  }

  async function claim(ownerId: string, thingId: string, record: PlacesRecord | null) {
    // A repeated command claims again, because another command may be dropping its earlier claim.
    const others = (record?.claims ?? []).filter(({ id }) => id !== thingId);
    if (record !== null && isWithin(record, thingId)) return write(others, thingId, record.shown);
    // The view is read after the record: a claim leaves the record only when the view shows its thing.
    const viewed = new Set(await inView(ownerId, max + 1));
    if (viewed.has(thingId)) return { keep: null };
    let unseen: readonly Claim[] = others.filter(({ id }) => !viewed.has(id));
    const isFull = (): boolean => viewed.size + unseen.length >= max;
    if (isFull() && !hasClaim(record?.claims ?? [], thingId)) {
      unseen = await stillCounting(ownerId, unseen);
      if (isFull()) refuse();
    }
    return write(unseen, thingId, viewed.size);
  }

  function write(others: readonly Claim[], thingId: string, inView: number) {
    const at = clock.now();
    const value = { claims: [...others, { id: thingId, at: at.toISOString() }], shown: inView };
    const expiresAt = new Date(at.getTime() + recordMs);
    return { write: value, expiresAt, result: { value, expiresAt } };
  }

  /** Returns the claims without those of things that are gone or never appeared. */
  async function stillCounting(ownerId: string, claims: readonly Claim[]): Promise<readonly Claim[]> {
    const nowMs = clock.now().getTime();
    const counting: Claim[] = [];
    for (const claimed of claims) {
      const found = await inLog(claimed.id, ownerId);
      const isYoung = nowMs - Date.parse(claimed.at) < claimMs;
      if (found === 'holds-a-place' || (found === 'absent' && isYoung)) counting.push(claimed);
    }
    return counting;
  }
}

function hasClaim(claims: readonly Claim[], thingId: string): boolean {
  return claims.some(({ id }) => id === thingId);
}
