import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { Overloaded } from '../../kit/overloaded.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';
import type { Digests } from '../../keys/sealing/digests.js';
import { ipBuckets } from '../rates/client-ip.js';
import {
  type FailureState,
  type ThrottleLimits,
  type ThrottleVerdict,
  countFailure,
  forgottenAtMs,
  judgeTry,
  withdrawFailure,
} from './failure-throttle.js';
import { isUndecided } from './undecided.js';

/** The secret and the client of an attempt. */
export interface TryOf {
  /** The digest of an address (with or without an account), the id of a user, or the id of a share. */
  readonly subject: string;
  /** In canonical spelling. IPv6 counts by its /64. Null: all clients count together. */
  readonly clientIp: string | null;
}

export type TryOutcome<T> =
  | { readonly outcome: 'passed'; readonly value: T }
  | { readonly outcome: 'failed' }
  | { readonly outcome: 'throttled'; readonly retryAfterSeconds: number };

/**
 * Throttles attempts at a secret by their failures per subject and client, in all processes together:
 * docs/design.md#guessing. Failures of one client delay no other client, except at the same address (IPv6: /64). With
 * `clientIp: null` they delay all clients, so use it only for secrets that strangers cannot reach.
 */
export interface GuardedTries {
  /**
   * Runs the check, unless the client has to wait first. Counts a failure before the check and takes it back after a
   * success, so that concurrent attempts count too. `OnSuccess` decides on earlier failures.
   * @param check receives the count of earlier failures. Returns the value of a success, or null for a failure. Its
   * error counts as a failure, because it may depend on the secret. Overloaded, StoreUnavailable, KeyMissing and
   * TryPutOff mean that the check decided nothing; they leave count and wait as they were.
   * @param admit runs before the first write, with the same count; its errors go to the caller
   * @throws StoreUnavailable when it cannot count the failure; Overloaded when too many attempts write the same record
   */
  run<T>(
    of: TryOf,
    check: (failuresBefore: number) => Promise<T | null>,
    admit?: (failuresBefore: number) => void,
  ): Promise<TryOutcome<T>>;
}

/** `withdraw` keeps earlier failures, for a record that clients share: the owner must not free a guesser's failures. */
export type OnSuccess = 'forget' | 'withdraw';

/** A failure that was counted before its check: the record's state before, and its version after. */
interface Reservation {
  readonly before: FailureState | null;
  readonly version: string;
}

/** The storage format of a record. */
const recordSchema = z.strictObject({ failures: z.int().positive(), last_at: z.iso.datetime() });

const writeTriesMax = 20;

/**
 * Stores failures in the state store, under a keyed digest. A record expires when its failures are forgotten, so with
 * 20 sign-ins a minute a client holds at most 320.
 * @param name separates the kinds of secrets: `login`, `two-factor`
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

  /** Counts a failure before its check, if the limits allow the attempt. */
  async function reserve(
    key: string,
    admit: (failuresBefore: number) => void,
  ): Promise<Reservation | Extract<ThrottleVerdict, { readonly allowed: false }>> {
    const reserved = await changeRecord(
      stateStore,
      { key, schema: recordSchema },
      (found) => {
        const before = found === null ? null : stateOf(found.value);
        const nowMs = clock.now().getTime();
        const verdict = judgeTry(limits, before, nowMs);
        if (!verdict.allowed) return { keep: verdict };
        admit(before?.failures ?? 0);
        return { ...recordFor(countFailure(limits, before, nowMs)), result: before };
      },
      { tries: writeTriesMax },
    );
    if (reserved === null) throw new Overloaded('too many attempts at once');
    return 'kept' in reserved ? reserved.kept : { before: reserved.result, version: reserved.version };
  }

  /** Changes a record after its check. A record that stays, because the store is unavailable or busy, expires. */
  async function settle(
    key: string,
    change: (state: FailureState, version: string) => FailureState | null,
  ): Promise<void> {
    try {
      await changeRecord(
        stateStore,
        { key, schema: recordSchema },
        (found) => {
          if (found === null) return { keep: null };
          return { ...recordFor(change(stateOf(found.value), found.version)), result: null };
        },
        { tries: writeTriesMax },
      );
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** Null removes the record. */
  function recordFor(state: FailureState | null) {
    if (state === null) return { write: null };
    const write = { failures: state.failures, last_at: new Date(state.lastAtMs).toISOString() };
    return { write, expiresAt: new Date(forgottenAtMs(limits, state)) };
  }

  /** After another attempt has counted, takes back the count only: the wait belongs to the other attempt. */
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
        if (isUndecided(error)) await withdraw(key, reserved);
        throw error;
      });
      if (value === null) return { outcome: 'failed' };
      await (onSuccess === 'forget' ? settle(key, () => null) : withdraw(key, reserved));
      return { outcome: 'passed', value };
    },
  };
}

function stateOf({ failures, last_at: lastAt }: z.output<typeof recordSchema>): FailureState {
  return { failures, lastAtMs: Date.parse(lastAt) };
}
