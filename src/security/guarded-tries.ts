import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import { Overloaded, StoreUnavailable } from '../event-sourcing/errors.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { KeyMissing } from '../keys/errors.js';
import type { Digests } from '../keys/digests.js';
import { ipBuckets } from './client-ip.js';
import type { FailureState, ThrottleLimits, ThrottleVerdict } from './failure-throttle.js';
import { countFailure, forgottenAtMs, judgeTry, withdrawFailure } from './failure-throttle.js';

/** What is guessed at, and by whom. */
export interface TryOf {
  /** An address's digest, whether or not there is such an account; a user's id; a share's id. */
  readonly subject: string;
  /** In canonical spelling; counted as `ipBuckets` says, IPv6 by its /64. Null: all clients count together. */
  readonly clientIp: string | null;
}

/** Thrown by a check that may not begin yet: nothing was tried, so nothing counts. */
export class TryPutOff extends Error {
  override readonly name = 'TryPutOff';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super('the try has to wait');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type TryOutcome<T> =
  | { readonly outcome: 'passed'; readonly value: T }
  | { readonly outcome: 'failed' }
  | { readonly outcome: 'throttled'; readonly retryAfterSeconds: number };

/**
 * Tries at a secret, throttled by their failures per subject and client (DESIGN 5), in all processes together. Failures of
 * others never lock anybody out.
 */
export interface GuardedTries {
  /**
   * Runs the check, unless the client has to wait first. The failure is counted before and taken back by success, so that
   * tries at the same moment are not free; a success forgets all failures of this client.
   * @param check is told how many failures of this client counted before; the value of a success, or null for a failure. Also what it throws counts as a failure, for it may tell of
   * the secret; save Overloaded, StoreUnavailable, KeyMissing and TryPutOff, which mean that nothing was decided.
   * @param admit asked before anything is written, and told the same: what it throws goes to the caller
   * @throws StoreUnavailable when the failures cannot be counted: nobody guesses unseen
   * @throws Overloaded when too many tries race for the same record
   */
  run<T>(
    of: TryOf,
    check: (failuresBefore: number) => Promise<T | null>,
    admit?: (failuresBefore: number) => void,
  ): Promise<TryOutcome<T>>;
}

/** The storage format of a record. */
const recordSchema = z.strictObject({ failures: z.int().positive(), last_at: z.iso.datetime() });

const undecidedErrors = [Overloaded, StoreUnavailable, KeyMissing, TryPutOff] as const;

const writeTriesMax = 20;

/**
 * Keeps failures in the state store, under a keyed digest. Only tries write, and a record lives on for as long as its
 * failures take to be forgotten: with `signInThrottle` and 20 tries a minute a client holds 320 at most.
 * @param name separates what is guessed at: `login`, `two-factor`
 */
export function makeGuardedTries({
  name,
  limits,
  stateStore,
  digests,
  clock,
}: {
  readonly name: string;
  readonly limits: ThrottleLimits;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
}): GuardedTries {
  function recordOf({ subject, clientIp }: TryOf): string {
    const client = clientIp === null ? null : (ipBuckets(clientIp)[0]?.key ?? clientIp);
    return `tries/${digests.of('tries', JSON.stringify([name, subject, client]))}`;
  }

  async function read(key: string): Promise<{ readonly state: FailureState | null; version: string | null }> {
    const record = await stateStore.get(key);
    if (record === null) return { state: null, version: null };
    const { failures, last_at } = recordSchema.parse(record.value);
    return { state: { failures, lastAtMs: Date.parse(last_at) }, version: record.version };
  }

  /** Whether the record was still at the version. */
  async function write(key: string, version: string | null, state: FailureState | null): Promise<boolean> {
    if (state === null) return (await stateStore.compareAndSet(key, version, null)) !== null;
    const value = { failures: state.failures, last_at: new Date(state.lastAtMs).toISOString() };
    const expiresAt = new Date(forgottenAtMs(limits, state));
    return (await stateStore.compareAndSet(key, version, value, { expiresAt })) !== null;
  }

  /** Counts a failure ahead of its try, where a try is allowed. */
  async function reserve(
    key: string,
    admit: (failuresBefore: number) => void,
  ): Promise<{ readonly verdict: ThrottleVerdict; readonly failuresBefore: number }> {
    for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
      const { state, version } = await read(key);
      const nowMs = clock.now().getTime();
      const verdict = judgeTry(limits, state, nowMs);
      const failuresBefore = state?.failures ?? 0;
      if (!verdict.allowed) return { verdict, failuresBefore };
      admit(failuresBefore);
      if (await write(key, version, countFailure(limits, state, nowMs))) return { verdict, failuresBefore };
    }
    throw new Overloaded('too many tries at once');
  }

  /** Takes failures back. One that stays, because the store is away or busy, is forgotten with time. */
  async function takeBack(key: string, change: (state: FailureState) => FailureState | null): Promise<void> {
    try {
      for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
        const { state, version } = await read(key);
        if (state === null || (await write(key, version, change(state)))) return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  return {
    run: async (of, check, admit = () => undefined) => {
      const key = recordOf(of);
      const { verdict, failuresBefore } = await reserve(key, admit);
      if (!verdict.allowed) return { outcome: 'throttled', retryAfterSeconds: verdict.retryAfterSeconds };
      const value = await check(failuresBefore).catch(async (error: unknown) => {
        const undecided = undecidedErrors.some((kind) => error instanceof kind);
        if (undecided) await takeBack(key, withdrawFailure);
        throw error;
      });
      if (value === null) return { outcome: 'failed' };
      await takeBack(key, () => null);
      return { outcome: 'passed', value };
    },
  };
}
