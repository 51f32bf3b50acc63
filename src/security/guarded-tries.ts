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
 * Tries at a secret, throttled by their failures per subject and client (DESIGN 5), in all processes together. Where clients are
 * told apart, failures of others lock nobody out, save those of the same address (IPv6: of the same /64). With `clientIp: null`
 * everybody waits for the failures of anybody: only for what strangers cannot get to.
 */
export interface GuardedTries {
  /**
   * Runs the check, unless the client has to wait first. The failure is counted before and taken back by success, so that
   * tries at the same moment are not free; what a success does to earlier failures of this client says `OnSuccess`.
   * @param check is told how many failures of this client counted before; the value of a success, or null for a failure. Also
   * what it throws counts as a failure, for it may tell of the secret; save Overloaded, StoreUnavailable, KeyMissing and
   * TryPutOff, which mean that nothing was decided: they leave the count and its wait as they were.
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

/**
 * `forget`: a success forgets all failures of its client. `withdraw`: it leaves them as they were, for a record that clients share:
 * else the owner's success would give another who guesses all free failures anew.
 */
export type OnSuccess = 'forget' | 'withdraw';

/** A failure counted ahead: what the record said before, and its version since. */
interface Reservation {
  readonly before: FailureState | null;
  readonly version: string;
}

/** The storage format of a record. */
const recordSchema = z.strictObject({ failures: z.int().positive(), last_at: z.iso.datetime() });

const undecidedErrors = [Overloaded, StoreUnavailable, KeyMissing, TryPutOff] as const;

const writeTriesMax = 20;

/**
 * Keeps failures in the state store, under a keyed digest. Only tries write, and a record lives on for as long as its
 * failures take to be forgotten: with `signInThrottle` and 20 tries a minute a client holds 320 at most.
 * @param name separates what is guessed at: `login`, `two-factor`
 * @param onSuccess `forget` when left out
 */
export function makeGuardedTries({
  name,
  limits,
  stateStore,
  digests,
  clock,
  onSuccess = 'forget',
}: {
  readonly name: string;
  readonly limits: ThrottleLimits;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
  readonly onSuccess?: OnSuccess;
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

  /** The new version; null where the record was no longer at `version`. */
  async function write(
    key: string,
    version: string | null,
    state: FailureState | null,
  ): Promise<string | null> {
    if (state === null) return stateStore.compareAndSet(key, version, null);
    const value = { failures: state.failures, last_at: new Date(state.lastAtMs).toISOString() };
    const expiresAt = new Date(forgottenAtMs(limits, state));
    return stateStore.compareAndSet(key, version, value, { expiresAt });
  }

  /** Counts a failure ahead of its try, where a try is allowed. */
  async function reserve(
    key: string,
    admit: (failuresBefore: number) => void,
  ): Promise<Reservation | Extract<ThrottleVerdict, { readonly allowed: false }>> {
    for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
      const { state, version } = await read(key);
      const nowMs = clock.now().getTime();
      const verdict = judgeTry(limits, state, nowMs);
      if (!verdict.allowed) return verdict;
      admit(state?.failures ?? 0);
      const reserved = await write(key, version, countFailure(limits, state, nowMs));
      if (reserved !== null) return { before: state, version: reserved };
    }
    throw new Overloaded('too many tries at once');
  }

  /** Changes a record after its try. One that stays, because the store is away or busy, is forgotten with time. */
  async function settle(
    key: string,
    change: (state: FailureState, version: string | null) => FailureState | null,
  ): Promise<void> {
    try {
      for (let attempt = 0; attempt < writeTriesMax; attempt += 1) {
        const { state, version } = await read(key);
        if (state === null || (await write(key, version, change(state, version))) !== null) return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /**
   * As if there had been no try, its wait included; where another has counted since, only the count is taken back, for the wait
   * is the other's.
   */
  function withdraw(key: string, { before, version: reserved }: Reservation): Promise<void> {
    return settle(key, (state, version) => (version === reserved ? before : withdrawFailure(state)));
  }

  return {
    run: async (of, check, admit = () => undefined) => {
      const key = recordOf(of);
      const reserved = await reserve(key, admit);
      if ('allowed' in reserved)
        return { outcome: 'throttled', retryAfterSeconds: reserved.retryAfterSeconds };
      const value = await check(reserved.before?.failures ?? 0).catch(async (error: unknown) => {
        const undecided = undecidedErrors.some((kind) => error instanceof kind);
        if (undecided) await withdraw(key, reserved);
        throw error;
      });
      if (value === null) return { outcome: 'failed' };
      await (onSuccess === 'forget' ? settle(key, () => null) : withdraw(key, reserved));
      return { outcome: 'passed', value };
    },
  };
}
