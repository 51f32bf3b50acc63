import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import { StoreUnavailable } from '../event-sourcing/errors.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { Digests } from '../keys/digests.js';
import { gcraCount, gcraJudge, type RateLimit } from './gcra.js';

/** How hard a secret is being guessed at, by everybody together. */
export interface Pressure {
  /** As many as still count, up to the limit. */
  readonly failures: number;
  /** So many that tries should be slowed down. */
  readonly isHigh: boolean;
}

/**
 * Counts the failures of all clients at one subject, in all processes together. It says when to slow down and never refuses
 * anybody: that would let anybody lock others out.
 */
export interface FailurePressure {
  /** @throws StoreUnavailable */
  of(subject: string): Promise<Pressure>;
  /** Counts one more failure; where too many write at once, or the store is away, it stays uncounted. */
  count(subject: string): Promise<Pressure>;
}

/** The storage format: the theoretical arrival time of `gcraJudge`. */
const recordSchema = z.strictObject({ arrival: z.iso.datetime() });

const writeTriesMax = 3;

/**
 * @param name separates what is guessed at
 * @param limit failures that change nothing; beyond them nothing is written either, so that a flood costs reads alone
 */
export function makeFailurePressure({
  name,
  limit,
  stateStore,
  digests,
  clock,
}: {
  readonly name: string;
  readonly limit: RateLimit;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
}): FailurePressure {
  const keyOf = (subject: string): string =>
    `pressure/${digests.of('pressure', JSON.stringify([name, subject]))}`;

  async function read(key: string) {
    const record = await stateStore.get(key);
    if (record === null) return { arrivalMs: undefined, version: null };
    return { arrivalMs: Date.parse(recordSchema.parse(record.value).arrival), version: record.version };
  }

  function judge(arrivalMs: number | undefined, nowMs: number): Pressure {
    const intervalMs = (limit.seconds * 1_000) / limit.limit;
    const failures = Math.ceil(Math.max(0, (arrivalMs ?? nowMs) - nowMs) / intervalMs);
    return { failures, isHigh: !gcraJudge(limit, arrivalMs, nowMs).allowed };
  }

  async function tryToCount(key: string): Promise<Pressure> {
    for (let attempt = 1; ; attempt += 1) {
      const { arrivalMs, version } = await read(key);
      const nowMs = clock.now().getTime();
      const before = judge(arrivalMs, nowMs);
      if (before.isHigh) return before;
      const counted = gcraCount(limit, arrivalMs, nowMs);
      const expiresAt = new Date(counted);
      const value = { arrival: expiresAt.toISOString() };
      const written = (await stateStore.compareAndSet(key, version, value, { expiresAt })) !== null;
      if (written) return judge(counted, nowMs);
      if (attempt === writeTriesMax) return before;
    }
  }

  return {
    of: async (subject) => judge((await read(keyOf(subject))).arrivalMs, clock.now().getTime()),
    count: async (subject) => {
      try {
        return await tryToCount(keyOf(subject));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return { failures: 0, isHigh: false };
      }
    },
  };
}
