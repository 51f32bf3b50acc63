import type { LookupAddress } from 'node:dns';
import { makeLru } from '../kit/lru.js';
import { Overloaded, makeKeyedSemaphore } from '../kit/semaphore.js';
import type { SteadyClock } from '../kit/time/clock.js';
import { rejectedBy } from '../kit/time/time-limit.js';
import { failure, lookupMs, type ResolveName } from './resolve-name.js';

/** Returns the account that a look-up is for, where a user has given the name. */
export type AccountOf = () => Promise<string>;

/**
 * Resolves a host name to its addresses. Tests pass their own.
 * @param account left out for names that the operator has set
 */
export type Lookup = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
  account?: AccountOf,
) => void;

/** Look-ups of an account at once. Those that wait longer than a look-up fail. */
const perAccount = { permits: 4, waitingMax: 200 };
/** A name that was not found is not asked for again before. */
const notAgainMs = 5_000;
/** Each takes about 2 KiB, with the stack of its error. */
const failedMax = 2_000;

interface Failed {
  readonly error: NodeJS.ErrnoException;
  readonly atMs: number;
}

/**
 * Makes a look-up that bounds what names of users cost: src/outgoing/README.md#names-that-users-give. Each name is asked for once
 * at a time. A permit of the account is held until the servers have answered or all tries are over, so that 60 names whose
 * servers never answer cost as much as four.
 */
export function sharingLookup(resolve: ResolveName, clock: SteadyClock): Lookup {
  const running = new Map<string, Promise<readonly LookupAddress[]>>();
  const failed = makeLru<Failed>(failedMax);
  const permits = makeKeyedSemaphore(perAccount);

  return (hostname, callback, account) => {
    lookUp(hostname, account).then(
      (addresses) => callback(null, addresses),
      (error: unknown) => callback(error as NodeJS.ErrnoException, []),
    );
  };

  async function lookUp(hostname: string, account: AccountOf | undefined): Promise<readonly LookupAddress[]> {
    const timeUp = new AbortController();
    const timer = setTimeout(() => timeUp.abort(failure('EAI_AGAIN', hostname)), lookupMs);
    try {
      return await Promise.race([rejectedBy(timeUp.signal), shared(hostname, account, timeUp.signal)]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function shared(
    hostname: string,
    account: AccountOf | undefined,
    signal: AbortSignal,
  ): Promise<readonly LookupAddress[]> {
    const before = failed.get(hostname);
    if (before !== undefined && clock.steadyMs() - before.atMs < notAgainMs) throw before.error;
    return running.get(hostname) ?? begin(hostname, await permitFor(hostname, account, signal));
  }

  async function permitFor(
    hostname: string,
    account: AccountOf | undefined,
    signal: AbortSignal,
  ): Promise<() => void> {
    if (account === undefined) return () => undefined;
    const key = await account();
    try {
      return await permits.acquire(key, signal);
    } catch (error) {
      if (error instanceof Overloaded) throw failure('EAI_AGAIN', hostname);
      throw error;
    }
  }

  /** Another caller may have begun while this one waited for its permit. */
  async function begin(hostname: string, release: () => void): Promise<readonly LookupAddress[]> {
    const other = running.get(hostname);
    if (other !== undefined) {
      release();
      return other;
    }
    const work = resolve(hostname)
      .catch((error: unknown) => {
        const known = error as NodeJS.ErrnoException;
        failed.set(hostname, { error: known, atMs: clock.steadyMs() });
        throw known;
      })
      .finally(() => {
        running.delete(hostname);
        release();
      });
    running.set(hostname, work);
    return work;
  }
}
