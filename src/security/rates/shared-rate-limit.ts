import { z } from 'zod';
import { Overloaded } from '../../kit/overloaded.js';
import type { Clock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord, type ChangeOptions } from '../../event-sourcing/ports/change-record.js';
import type { Digests } from '../../keys/sealing/digests.js';
import { gcraCap, gcraCount, gcraJudge, type RateLimit } from './gcra.js';

export interface SharedClaim<Name extends string> {
  readonly name: Name;
  readonly key: string;
  /** How many it counts at once, 1 to the limit; 1 when left out. */
  readonly times?: number;
}

export type SharedVerdict<Name extends string> =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      /** The limit with the longest wait. */
      readonly name: Name;
      /** Whole seconds, at least 1. */
      readonly retryAfterSeconds: number;
    };

export interface Level {
  /** Attempts that still count, up to the limit. */
  readonly counted: number;
  /** Milliseconds until the limit allows one more; 0 when it does. */
  readonly retryAfterMs: number;
}

/** Counts by named limits in all processes together; `RateLimiter` counts in one process. */
export interface SharedRateLimiter<Name extends string> {
  /**
   * Counts under each claim, once or `times`, if all allow it. A refused one counts only if a limit fills up after the check.
   * @throws StoreUnavailable; Overloaded when too many calls write the same key
   */
  take(claims: readonly SharedClaim<Name>[]): Promise<SharedVerdict<Name>>;
  /** @throws StoreUnavailable */
  level(claim: SharedClaim<Name>): Promise<Level>;
  /**
   * Counts one, for a limit that delays clients and refuses none. Returns the level after it. Counts nothing when the
   * limit is full, or (with zeros) when too many calls write at once or the store is unavailable.
   */
  count(claim: SharedClaim<Name>): Promise<Level>;
}

/** The storage format: the theoretical arrival time of `gcraJudge`. */
const recordSchema = z.strictObject({ arrival: z.iso.datetime() });

/** A retry after an unknown outcome may count twice. */
const takeOptions: ChangeOptions = { tries: 20, unknownOutcome: 'retry' };
const countOptions: ChangeOptions = { tries: 3 };

/** Stores arrival times in the state store, under keyed digests, until they are in the past. */
export function makeSharedRateLimiter<Name extends string>({
  limits,
  stateStore,
  digests,
  clock,
  kind = 'limit',
}: {
  readonly limits: Readonly<Record<Name, RateLimit>>;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
  readonly kind?: 'limit' | 'pressure';
}): SharedRateLimiter<Name> {
  type Claim = SharedClaim<Name>;

  return {
    take: async (claims) => {
      const levels = await Promise.all(claims.map(level));
      const waits = claims.map(({ name }, index) => ({ name, ms: levels[index]?.retryAfterMs ?? 0 }));
      const [longest] = waits.sort((one, other) => other.ms - one.ms);
      if (longest !== undefined && longest.ms > 0) return refusal(longest.name, longest.ms);
      for (const claim of claims) {
        const changed = await add(claim, takeOptions);
        if (changed === null) {
          throw new Overloaded(
            `other writers were faster at the count of ${claim.name} ${takeOptions.tries} times`,
          );
        }
        if ('kept' in changed) return refusal(claim.name, changed.kept.level.retryAfterMs);
      }
      return { allowed: true };
    },
    level,
    count: async (claim) => {
      try {
        const changed = await add(claim, countOptions);
        if (changed !== null && 'kept' in changed) await correct(claim, changed.kept.storedMs);
        if (changed !== null) return 'kept' in changed ? changed.kept.level : changed.result;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
      return { counted: 0, retryAfterMs: 0 };
    },
  };

  async function level(claim: Claim): Promise<Level> {
    const record = await stateStore.get(recordOf(claim));
    const arrivalMs = record === null ? undefined : arrivalOf(recordSchema.parse(record.value));
    const nowMs = clock.now().getTime();
    await correct(claim, arrivalMs);
    return levelAt(claim, arrivalMs, nowMs);
  }

  function isAhead({ name }: Claim, arrivalMs: number | undefined, nowMs: number): arrivalMs is number {
    return arrivalMs !== undefined && gcraCap(limits[name], arrivalMs, nowMs) < arrivalMs;
  }

  /** Corrects a record that a clock has written which was set back since. Without it the count would stay for the step. */
  async function correct(claim: Claim, storedMs: number | undefined): Promise<void> {
    if (!isAhead(claim, storedMs, clock.now().getTime())) return;
    await changeRecord(
      stateStore,
      { key: recordOf(claim), schema: recordSchema },
      (found) => {
        const nowMs = clock.now().getTime();
        if (found === null || !isAhead(claim, arrivalOf(found.value), nowMs)) return { keep: null };
        const expiresAt = new Date(gcraCap(limits[claim.name], arrivalOf(found.value), nowMs));
        return { write: { arrival: expiresAt.toISOString() }, expiresAt, result: null };
      },
      takeOptions,
    );
  }

  /** Counts one if the limit allows it. */
  function add(claim: Claim, options: ChangeOptions) {
    return changeRecord(
      stateStore,
      { key: recordOf(claim), schema: recordSchema },
      (found) => {
        const nowMs = clock.now().getTime();
        const storedMs = found === null ? undefined : arrivalOf(found.value);
        const before = levelAt(claim, storedMs, nowMs);
        if (before.retryAfterMs > 0) return { keep: { level: before, storedMs } };
        // An allowed attempt has a time within the period, so this needs no cap.
        const countedMs = gcraCount(limits[claim.name], beforeLast(claim, storedMs, nowMs), nowMs);
        const expiresAt = new Date(Math.ceil(countedMs));
        const write = { arrival: expiresAt.toISOString() };
        return { write, expiresAt, result: levelAt(claim, countedMs, nowMs) };
      },
      options,
    );
  }

  /** Returns the arrival time after all counts of the claim but the last one. */
  function beforeLast(
    { name, times = 1 }: Claim,
    arrivalMs: number | undefined,
    nowMs: number,
  ): number | undefined {
    let counted = arrivalMs;
    for (let more = times; more > 1; more -= 1) counted = gcraCount(limits[name], counted, nowMs);
    return counted;
  }

  function levelAt(claim: Claim, storedMs: number | undefined, nowMs: number): Level {
    const { name } = claim;
    const { limit, seconds } = limits[name];
    const arrivalMs = storedMs === undefined ? undefined : gcraCap(limits[name], storedMs, nowMs);
    const counted = Math.ceil((Math.max(0, (arrivalMs ?? nowMs) - nowMs) * limit) / (seconds * 1_000));
    return {
      counted,
      retryAfterMs: gcraJudge(limits[name], beforeLast(claim, arrivalMs, nowMs), nowMs).retryAfterMs,
    };
  }

  function recordOf({ name, key }: Claim): string {
    return `${kind}/${digests.of(kind, JSON.stringify([name, key]))}`;
  }
}

function refusal<Name extends string>(name: Name, waitMs: number): SharedVerdict<Name> {
  return { allowed: false, name, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
}

function arrivalOf({ arrival }: z.output<typeof recordSchema>): number {
  return Date.parse(arrival);
}
