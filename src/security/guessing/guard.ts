import { Overloaded, makeKeyedMutex } from '../../kit/semaphore.js';
import type { Background } from '../../kit/background.js';
import type { Clock } from '../../kit/time/clock.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateRecord, StateStore } from '../../event-sourcing/ports/state-store.js';
import type { Digests } from '../../keys/sealing/digests.js';
import { KeyMissing } from '../../keys/sealing/errors.js';
import { ipBuckets } from '../rates/client-ip.js';
import {
  counted,
  type FailureLimits,
  type Failures,
  failuresSchema,
  failuresSince,
  isNews,
  lastForgottenAtMs,
  noFailures,
  waitMs,
  withdrawn,
} from './failures.js';

/** A device from which an account was signed in to before, or a visitor who opened a share before. */
export interface KnownDevice {
  readonly id: string;
  /** The id of the account or the share that knows it. */
  readonly of: string;
}

/** Who tries a secret. */
export interface TryingClient {
  /** In canonical spelling. IPv6 counts by its /64. */
  readonly ip: string;
  /** Null: the client counts by its network. */
  readonly known: KnownDevice | null;
}

export interface Try {
  /** What the secret belongs to: the digest of an address, with or without an account, a user, or a password of a share. */
  readonly subject: string;
  readonly client: TryingClient;
  /** Runs before the first write; its errors go to the caller. */
  readonly admit?: () => void;
  /** Tells the owner that a day has no room for more failures, once a day. It runs after the reply. */
  readonly tell?: () => Promise<void>;
}

/** `recent`: the failures of all clients in the last 15 to 30 minutes. */
type TryOutcome<T> =
  | { readonly outcome: 'passed'; readonly value: T }
  | { readonly outcome: 'failed'; readonly recent: number }
  | { readonly outcome: 'throttled'; readonly recent: number; readonly retryAfterSeconds: number };

type Work<T> = [check: () => Promise<T | null>, beside?: (value: T) => Promise<unknown>];

/** Strangers in several processes compete for the record of one account. */
const writeTriesMax = 60;
/** Attempts at one subject that count or wait for it in this process, and those of one client. */
const [writersMax, turnsMax] = [256, 64];
/**
 * An attempt whose turn comes later could not end its check, which may take 8 s, within the 15 s of a request. Its client would ask
 * again, behind those that wait: soon every turn would go to an attempt that is answered already.
 */
const turnMsDefault = 7_000;

/**
 * Bounds the wrong attempts at a secret, in all processes together: those of one client, which has to wait, and those of a day
 * (src/security/README.md#guessing). Known devices have a part of each, which no other client can use up.
 * @param name separates the records of this secret from those of others
 */
export function makeGuard(deps: {
  readonly name: string;
  readonly limits: FailureLimits;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
  readonly background: Pick<Background, 'startOnce'>;
  readonly turnMs?: number;
}) {
  const { name, limits, stateStore, digests, clock, background, turnMs = turnMsDefault } = deps;
  // All failures at a subject share a record. In sequence, the attempts of this process do not outrun each other.
  const writes = makeKeyedMutex({ waitingMax: writersMax });
  const turns = makeKeyedMutex({ waitingMax: turnsMax, waitMs: turnMs });
  const now = () => clock.now().getTime();
  const recordOf = (subject: string) => `guessing/${digests.of('guessing', JSON.stringify([name, subject]))}`;

  function keyOf({ subject, client: { ip, known } }: Try): string {
    const client = known?.id ?? ipBuckets(ip)[0]?.key ?? ip;
    const digest = digests.of('guessing-client', JSON.stringify([subject, client])).slice(0, 32);
    return `${known === null ? 'n' : 'd'}${digest}`;
  }

  async function read(record: string): Promise<readonly [StateRecord | null, Failures]> {
    const found = await stateStore.get(record);
    return [found, found === null ? noFailures : failuresSchema.parse(found.value)];
  }

  async function change<Kept>(
    record: string,
    decide: (state: Failures) => { readonly keep: Kept } | { readonly next: Failures },
    first?: StateRecord | null,
  ) {
    const changed = await writes(record, () =>
      changeRecord(
        stateStore,
        { key: record, schema: failuresSchema },
        (found) => {
          const before = found?.value ?? noFailures;
          const decided = decide(before);
          if ('keep' in decided) return decided;
          const [result, endMs] = [{ before, after: decided.next }, lastForgottenAtMs(limits, decided.next)];
          if (endMs === null) return { write: null, result };
          return { write: decided.next, expiresAt: new Date(endMs), result };
        },
        { tries: writeTriesMax, ...(first === undefined ? {} : { first }) },
      ),
    );
    if (changed === null) throw new Overloaded('too many attempts at once');
    return changed;
  }

  /** Changes a record that still counts failures. */
  const changeCounting = (record: string, next: (state: Failures) => Failures, first?: StateRecord) =>
    change(record, (state) => (state.days.length === 0 ? { keep: null } : { next: next(state) }), first);

  function tellNews(record: string, { tell }: Try): void {
    if (tell === undefined) return;
    background.startOnce(record, 'the guessing at a secret was not recorded', async () => {
      await tell();
      await changeCounting(record, (state) => ({ ...state, told_at: now() }));
    });
  }

  async function attempt<T>(tried: Try, ...[check, beside]: Work<T>): Promise<TryOutcome<T>> {
    const [record, key] = [recordOf(tried.subject), keyOf(tried)];
    const seen = (state: Failures): number => {
      if (isNews(limits, state, key, now())) tellNews(record, tried);
      return failuresSince(state, now(), 'period');
    };
    const refusalOf = (state: Failures) => {
      const ms = waitMs(limits, state, key, now());
      if (ms === 0) return null;
      return { outcome: 'throttled', recent: seen(state), retryAfterSeconds: Math.ceil(ms / 1_000) } as const;
    };
    // A refusal waits for no writer, and writes nothing.
    const [first, state] = await read(record);
    const refused = refusalOf(state);
    if (refused !== null) return refused;
    const taken = await change(
      record,
      (found) => {
        const keep = refusalOf(found);
        if (keep !== null) return { keep };
        tried.admit?.();
        return { next: counted(limits, found, key, now()) };
      },
      first,
    );
    if ('kept' in taken) return taken.kept;
    const { version, result } = taken;
    /** A failure that stays, because the store is away or busy, is forgotten by time. */
    const withdraw = async (isSuccess: boolean): Promise<void> => {
      const written = { key: record, value: result.after, version, expiresAt: null };
      await changeCounting(record, (found) => withdrawn(found, { ...result, key }, isSuccess), written).catch(
        (error: unknown) => {
          if (!(error instanceof StoreUnavailable || error instanceof Overloaded)) throw error;
        },
      );
    };
    const value = await check().catch(async (error: unknown) => {
      if (isUndecided(error)) await withdraw(false);
      throw error;
    });
    if (value === null) return { outcome: 'failed', recent: seen(result.after) };
    await Promise.all([withdraw(true), beside?.(value)]);
    return { outcome: 'passed', value };
  }

  return {
    /**
     * Counts a failure, runs the check, and takes the failure back after a success, which also forgets the earlier ones of the
     * client. Attempts of one client at one subject run in sequence, so that right ones do not use up the free failures. None
     * waits longer than 7 s.
     * @param check returns the value of a success, or null for a failure. Its error counts as a failure, because it may depend on
     * the secret. Overloaded, StoreUnavailable and KeyMissing mean that the check decided nothing; they leave everything as it was.
     * @param beside writes other records after a success. It begins with the write that takes the failure back, so that embedded
     * stores put both into one commit.
     * @throws StoreUnavailable when it cannot count the failure; Overloaded when too many attempts write the same record, or the
     * turn comes too late
     */
    run: <T>(tried: Try, ...work: Work<T>): Promise<TryOutcome<T>> =>
      turns(`${tried.subject} ${keyOf(tried)}`, () => attempt(tried, ...work)),
    /** Returns whether a wrong attempt at the subject counts in the day. @throws StoreUnavailable */
    hasFailures: async (subject: string): Promise<boolean> =>
      failuresSince((await read(recordOf(subject)))[1], now(), 'day') > 0,
  };
}

/** Returns whether the error means that a check decided nothing about the secret. */
function isUndecided(error: unknown): boolean {
  return [Overloaded, StoreUnavailable, KeyMissing].some((kind) => error instanceof kind);
}
