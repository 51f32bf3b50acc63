import { LRUCache } from 'lru-cache';
import type { Clock } from '../event-sourcing/clock.js';
import type { RateLimit } from './gcra.js';
import { gcraCount, gcraJudge } from './gcra.js';

export type { RateLimit } from './gcra.js';

export interface NamedLimit extends RateLimit {
  /**
   * Refuses keys it has not seen while the table holds nothing but keys that count (authentication routes), instead
   * of forgetting one of them. False when left out.
   */
  readonly failsClosed?: boolean;
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** Whole seconds for `Retry-After`, at least 1 when refused; 0 when allowed. */
  readonly retryAfterSeconds: number;
}

/** One key, or several that all must allow (`ipBuckets`); `factor` multiplies the limit. */
export type RateKey = string | readonly { readonly key: string; readonly factor: number }[];

/** Counts by named limits in this process. Neither call waits or throws for a key. */
export interface RateLimiter<Name extends string> {
  /** Counts one if all keys allow it; a refused one counts nowhere. */
  check(name: Name, key: RateKey): RateVerdict;
  /** Looks without counting: for what counts only by its outcome. */
  peek(name: Name, key: RateKey): RateVerdict;
  /** Counts one that has happened, allowed or not: what passed `peek` at the same moment is paid for later. */
  charge(name: Name, key: RateKey): void;
}

/** Keys kept by all limits together. */
const capacityDefault = 100_000;
/** Entries looked at to find one that may be forgotten. */
const evictionProbesMax = 8;

/** @param limits positive whole numbers, by name */
export function makeRateLimiter<Name extends string>({
  clock,
  limits,
  capacity = capacityDefault,
}: {
  readonly clock: Clock;
  readonly limits: Readonly<Record<Name, NamedLimit>>;
  readonly capacity?: number;
}): RateLimiter<Name> {
  /** Theoretical arrival times by `name` and key, least recently counted first out. */
  const arrivals = new LRUCache<string, number>({ max: capacity });

  function cells(name: Name, key: RateKey): readonly { readonly id: string; readonly limit: RateLimit }[] {
    const base = limits[name];
    const keys = typeof key === 'string' ? [{ key, factor: 1 }] : key;
    return keys.map(({ key: text, factor }) => ({
      id: `${name} ${text}`,
      limit: { limit: base.limit * factor, seconds: base.seconds },
    }));
  }

  function leastRecent(count: number): readonly string[] {
    const oldest: string[] = [];
    for (const id of arrivals.rkeys()) {
      oldest.push(id);
      if (oldest.length === count) break;
    }
    return oldest;
  }

  /** Whether there is room for a key not seen, after forgetting one that says no more than a fresh key would. */
  function makeRoom(nowMs: number): boolean {
    if (arrivals.size < capacity) return true;
    for (const oldest of leastRecent(evictionProbesMax)) {
      const arrivalMs = arrivals.peek(oldest);
      if (arrivalMs === undefined || arrivalMs <= nowMs) {
        arrivals.delete(oldest);
        return true;
      }
      // A second chance: it still counts, so it goes to the end of the queue.
      arrivals.get(oldest);
    }
    return false;
  }

  function judge(name: Name, key: RateKey, nowMs: number): RateVerdict {
    let waitMs = 0;
    for (const { id, limit } of cells(name, key)) {
      const arrivalMs = arrivals.peek(id);
      const closed = arrivalMs === undefined && limits[name].failsClosed === true && !makeRoom(nowMs);
      const { retryAfterMs } = gcraJudge(limit, arrivalMs, nowMs);
      waitMs = Math.max(waitMs, retryAfterMs, closed ? 1_000 : 0);
    }
    return { allowed: waitMs === 0, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
  }

  function count(name: Name, key: RateKey, nowMs: number): void {
    for (const { id, limit } of cells(name, key)) {
      const arrivalMs = arrivals.peek(id);
      if (arrivalMs === undefined) makeRoom(nowMs);
      arrivals.set(id, gcraCount(limit, arrivalMs, nowMs));
    }
  }

  return {
    check: (name, key) => {
      const nowMs = clock.now().getTime();
      const verdict = judge(name, key, nowMs);
      if (verdict.allowed) count(name, key, nowMs);
      return verdict;
    },
    peek: (name, key) => judge(name, key, clock.now().getTime()),
    charge: (name, key) => {
      count(name, key, clock.now().getTime());
    },
  };
}
