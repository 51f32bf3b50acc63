import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import { OutcomeUnknown, Overloaded } from '../event-sourcing/errors.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { Digests } from '../keys/digests.js';
import { gcraCount, gcraJudge, type RateLimit } from './gcra.js';

/** A key under a named limit. */
export interface SharedClaim<Name extends string> {
  readonly name: Name;
  readonly key: string;
}

export type SharedVerdict<Name extends string> =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      /** The limit that has to be waited for longest. */
      readonly name: Name;
      /** Whole seconds, at least 1. */
      readonly retryAfterSeconds: number;
    };

/** Counts by named limits in all processes together, for what is rare and reaches far; `RateLimiter` counts in one. */
export interface SharedRateLimiter<Name extends string> {
  /**
   * Counts one under each claim, if all of them allow it; a refused one counts nowhere, save where a race is lost at the
   * last moment.
   * @throws StoreUnavailable: with the store away nothing is allowed; Overloaded when too many race for the same key
   */
  take(claims: readonly SharedClaim<Name>[]): Promise<SharedVerdict<Name>>;
}

/** The storage format: the theoretical arrival time of `gcraJudge`. */
const recordSchema = z.strictObject({ arrival: z.iso.datetime() });

const writeTriesMax = 20;

/** Keeps arrival times in the state store, under keyed digests, for as long as they say more than a fresh key would. */
export function makeSharedRateLimiter<Name extends string>({
  limits,
  stateStore,
  digests,
  clock,
}: {
  readonly limits: Readonly<Record<Name, RateLimit>>;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
}): SharedRateLimiter<Name> {
  type Claim = SharedClaim<Name>;

  return {
    take: async (claims) => {
      const looked = refusalAmong(await Promise.all(claims.map(look)));
      if (looked !== null) return looked;
      for (const claim of claims) {
        const refused = await countOne(claim);
        if (refused !== null) return refused;
      }
      return { allowed: true };
    },
  };

  async function look({ name, key }: Claim) {
    const record = await stateStore.get(recordOf(name, key));
    const arrivalMs = record === null ? undefined : Date.parse(recordSchema.parse(record.value).arrival);
    const nowMs = clock.now().getTime();
    const { retryAfterMs } = gcraJudge(limits[name], arrivalMs, nowMs);
    return { name, version: record?.version ?? null, arrivalMs, nowMs, retryAfterMs };
  }

  /** Null when it was counted. */
  async function countOne(claim: Claim): Promise<SharedVerdict<Name> | null> {
    const { name, key } = claim;
    for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
      const found = await look(claim);
      const refused = refusalAmong([found]);
      if (refused !== null) return refused;
      const expiresAt = new Date(Math.ceil(gcraCount(limits[name], found.arrivalMs, found.nowMs)));
      if (await write(recordOf(name, key), found.version, expiresAt)) return null;
    }
    throw new Overloaded(`a count under ${name} was lost to others ${writeTriesMax} times`);
  }

  /** False when another was faster, or nobody knows: then it may count twice. */
  async function write(key: string, version: string | null, arrival: Date): Promise<boolean> {
    const value = { arrival: arrival.toISOString() };
    try {
      return (await stateStore.compareAndSet(key, version, value, { expiresAt: arrival })) !== null;
    } catch (error) {
      if (error instanceof OutcomeUnknown) return false;
      throw error;
    }
  }

  function refusalAmong(
    found: readonly { readonly name: Name; readonly retryAfterMs: number }[],
  ): SharedVerdict<Name> | null {
    const [longest] = [...found].sort((one, other) => other.retryAfterMs - one.retryAfterMs);
    if (longest === undefined || longest.retryAfterMs === 0) return null;
    const retryAfterSeconds = Math.ceil(longest.retryAfterMs / 1_000);
    return { allowed: false, name: longest.name, retryAfterSeconds };
  }

  function recordOf(name: Name, key: string): string {
    return `limit/${digests.of('limit', JSON.stringify([name, key]))}`;
  }
}
