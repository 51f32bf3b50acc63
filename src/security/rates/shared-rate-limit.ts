import { z } from 'zod';
import { Overloaded } from '../../kit/semaphore.js';
import type { Clock } from '../../kit/time/clock.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord, type ChangeOptions } from '../../event-sourcing/ports/change-record.js';
import type { Digests } from '../../keys/sealing/digests.js';
import { gcraCap, gcraCount, gcraJudge, type RateLimit } from './rate-limit.js';

interface SharedClaim<Name extends string> {
  readonly name: Name;
  readonly key: string;
  /** How many it counts at once; 1 when left out. More than the limit count as the limit, or the claim would never pass. */
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

/** Counts by named limits in all processes together; `RateLimiter` counts in one process. */
interface SharedRateLimiter<Name extends string> {
  /**
   * Counts under each claim, once or `times`, if all allow it. A refused one counts only if a limit fills up after the check.
   * @param beside writes other records once all allow it. It begins with the counts, so that embedded stores put all of them into
   * one commit.
   * @throws StoreUnavailable; Overloaded when too many calls write the same key
   */
  take(claims: readonly SharedClaim<Name>[], beside?: () => Promise<unknown>): Promise<SharedVerdict<Name>>;
}

/** The storage format: the theoretical arrival time of `gcraJudge`. */
const recordSchema = z.strictObject({ arrival: z.iso.datetime() });
type Found = { readonly value: z.output<typeof recordSchema> } | null;

/** A retry after an unknown outcome may count twice. */
const options: ChangeOptions = { tries: 20, unknownOutcome: 'retry' };

/** Stores arrival times in the state store, under keyed digests, until they are in the past. */
export function makeSharedRateLimiter<Name extends string>(deps: {
  readonly limits: Readonly<Record<Name, RateLimit>>;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
}): SharedRateLimiter<Name> {
  const { limits, stateStore, digests, clock } = deps;
  type Claim = SharedClaim<Name>;
  return {
    take: async (claims, beside) => {
      const refused = await longest(claims, waitOf);
      if (refused !== null) return refused;
      const [full] = await Promise.all([longest(claims, add), beside?.()]);
      return full ?? { allowed: true };
    },
  };

  /** Returns the refusal of the limit with the longest wait; null where none waits. */
  async function longest(
    claims: readonly Claim[],
    waitMsOf: (claim: Claim) => Promise<number>,
  ): Promise<SharedVerdict<Name> | null> {
    const waits = await Promise.all(claims.map(async (claim) => ({ claim, ms: await waitMsOf(claim) })));
    const [first] = waits.sort((one, other) => other.ms - one.ms);
    return first === undefined || first.ms === 0 ? null : refusal(first.claim.name, first.ms);
  }

  async function waitOf(claim: Claim): Promise<number> {
    const record = await stateStore.get(recordOf(claim));
    const { waitMs, isAhead } = judge(
      claim,
      record === null ? null : { value: recordSchema.parse(record.value) },
    );
    // Without a correction the count would stay for the step of the clock.
    return isAhead && waitMs > 0 ? add(claim) : waitMs;
  }

  /** @returns `isAhead`: a clock has written the record which was set back since; its time is capped */
  function judge({ name, times = 1 }: Claim, found: Found) {
    const nowMs = clock.now().getTime();
    const storedMs = found === null ? undefined : Date.parse(found.value.arrival);
    const arrivalMs = storedMs === undefined ? undefined : gcraCap(limits[name], storedMs, nowMs);
    let beforeLast = arrivalMs;
    for (let more = Math.min(times, limits[name].limit); more > 1; more -= 1)
      beforeLast = gcraCount(limits[name], beforeLast, nowMs);
    const waitMs = gcraJudge(limits[name], beforeLast, nowMs).retryAfterMs;
    const endMs = waitMs > 0 ? (arrivalMs ?? nowMs) : gcraCount(limits[name], beforeLast, nowMs);
    return { waitMs, isAhead: arrivalMs !== storedMs, end: new Date(Math.ceil(endMs)) };
  }

  /** Counts the claim if the limit allows it. Returns how long it has to wait otherwise. */
  async function add(claim: Claim): Promise<number> {
    const changed = await changeRecord(
      stateStore,
      { key: recordOf(claim), schema: recordSchema },
      (found) => {
        const { waitMs, isAhead, end } = judge(claim, found);
        if (waitMs > 0 && !isAhead) return { keep: waitMs };
        return { write: { arrival: end.toISOString() }, expiresAt: end, result: waitMs };
      },
      options,
    );
    if (changed !== null) return 'kept' in changed ? changed.kept : changed.result;
    throw new Overloaded(`other writers were faster at the count of ${claim.name} ${options.tries} times`);
  }

  function recordOf({ name, key }: Claim): string {
    return `limit/${digests.of('limit', JSON.stringify([name, key]))}`;
  }
}

function refusal<Name extends string>(name: Name, waitMs: number): SharedVerdict<Name> {
  return { allowed: false, name, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
}
