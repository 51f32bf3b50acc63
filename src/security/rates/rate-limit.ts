import type { SteadyClock } from '../../kit/time/clock.js';
import { makeLru } from '../../kit/lru.js';

/** At most `limit` at once, and in the long run `limit` every `seconds`. */
export type RateLimit = { readonly limit: number; readonly seconds: number };

interface GcraVerdict {
  readonly allowed: boolean;
  /** Milliseconds until the next attempt is allowed; 0 when this one is. */
  readonly retryAfterMs: number;
}

/**
 * Judges by the generic cell rate algorithm (ITU-T I.371, virtual scheduling) with the whole limit as burst. The state
 * is the theoretical arrival time in ms. Any W seconds pass at most `limit + W × limit / seconds` attempts.
 */
export function gcraJudge(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
): GcraVerdict {
  const intervalMs = (seconds * 1_000) / limit;
  const waitMs = (arrivalMs ?? nowMs) - (limit - 1) * intervalMs - nowMs;
  // Sums of fractions of a millisecond are inexact: tolerate a thousandth.
  return waitMs <= 0.001 ? { allowed: true, retryAfterMs: 0 } : { allowed: false, retryAfterMs: waitMs };
}

export function gcraCount(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
  times = 1,
): number {
  return Math.max(arrivalMs ?? nowMs, nowMs) + (times * seconds * 1_000) / limit;
}

/** What a limit still allows. */
export interface Allowance {
  readonly limit: number;
  /** Attempts that the limit allows at once. */
  readonly remaining: number;
  /** Whole seconds until the limit is whole again; after a refusal, until it allows an attempt. */
  readonly resetSeconds: number;
}

function gcraAllowance(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
): Allowance {
  const aheadMs = Math.max((arrivalMs ?? nowMs) - nowMs, 0);
  // The same tolerance as in `gcraJudge`.
  const used = ((aheadMs - 0.001) * limit) / (seconds * 1_000);
  const remaining = Math.min(Math.max(Math.floor(limit - used), 0), limit);
  return { limit, remaining, resetSeconds: Math.ceil(aheadMs / 1_000) };
}

/** Returns the allowance that is nearer to a refusal. */
export function nearerToRefusal(one: Allowance | null, other: Allowance): Allowance {
  return one !== null && one.remaining <= other.remaining ? one : other;
}

/**
 * Returns the arrival time, at most one period of the limit ahead: no count leads further. A time beyond that was
 * written before the clock was set back. Its owner stores the result, or the time would stay ahead for the whole step.
 */
export function gcraCap({ seconds }: RateLimit, arrivalMs: number, nowMs: number): number {
  return Math.min(arrivalMs, nowMs + seconds * 1_000);
}

export interface NamedLimit extends RateLimit {
  /** Refuses new keys while the table is full of keys that count, instead of evicting one. False when left out. */
  readonly failsClosed?: boolean;
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** Whole seconds for `Retry-After`, at least 1 when refused; 0 when allowed. */
  readonly retryAfterSeconds: number;
  /** Of the key that refuses, or that is nearest to it after the attempt; null where an allowed attempt does not count. */
  readonly allowance: Allowance | null;
}

/** One key, or several that must all allow the attempt (`ipBuckets`). `factor` multiplies the limit. */
export type RateKey = string | readonly { readonly key: string; readonly factor: number }[];

interface RateClaim<Name extends string> {
  readonly name: Name;
  readonly key: RateKey;
}

/** A reservation under each claimed limit until the outcome of the attempt is known; or the refusal. */
type Reservation<Name extends string> =
  | (RateVerdict & { readonly allowed: false })
  | {
      readonly allowed: true;
      /**
       * Ends the reservations and counts one under each limit that `counts` names. Call it once, after any outcome.
       * Returns the allowance that is then nearest to a refusal.
       */
      settle(counts: (name: Name) => boolean): Allowance | null;
    };

/** Counts by named limits in this process. No call waits or throws. */
export type RateLimiter<Name extends string> = ReturnType<typeof makeRateLimiter<Name>>;

/** Keys of all limits together. */
const capacityDefault = 100_000;
/** Keys that an eviction checks. */
const evictionProbesMax = 8;

type Cell = { readonly id: string; readonly limit: RateLimit };

/**
 * @param capacity keys in memory: half for the limits that fail closed, so that a flood of others evicts none of them
 */
export function makeRateLimiter<Name extends string>(deps: {
  /** Its steady time counts, so a step of the wall clock changes no limit. */
  readonly clock: SteadyClock;
  readonly limits: Readonly<Record<Name, NamedLimit>>;
  readonly capacity?: number;
}) {
  const { clock, limits, capacity = capacityDefault } = deps;
  const closedTable = makeArrivalTable(capacity / 2);
  const openTable = makeArrivalTable(capacity / 2);
  const tableOf = (name: Name) => (limits[name].failsClosed === true ? closedTable : openTable);
  /** Reservations by cell. Running requests hold them, so the service bounds their number. */
  const held = new Map<string, number>();

  /** Returns the arrival time of a cell as if all its reservations counted now. */
  function arrivalOf(table: ArrivalTable, { id, limit }: Cell, nowMs: number): number | undefined {
    const reservations = held.get(id);
    let arrivalMs = table.get(id);
    if (reservations === undefined) return arrivalMs;
    for (let n = 0; n < reservations; n += 1) arrivalMs = gcraCount(limit, arrivalMs, nowMs);
    return arrivalMs;
  }

  function hold({ id }: Cell): void {
    held.set(id, (held.get(id) ?? 0) + 1);
  }

  function release({ id }: Cell): void {
    const reservations = held.get(id) ?? 0;
    if (reservations > 1) held.set(id, reservations - 1);
    else held.delete(id);
  }

  function cellsOf(name: Name, key: RateKey): readonly Cell[] {
    const { limit, seconds } = limits[name];
    if (typeof key === 'string') return [{ id: idOf(name, key), limit: limits[name] }];
    return key.map(({ key: text, factor }) => ({
      id: idOf(name, text),
      // A part of a small limit still allows one attempt.
      limit: { limit: Math.max(1, limit * factor), seconds },
    }));
  }

  function judge(name: Name, cells: readonly Cell[], nowMs: number): RateVerdict {
    const table = tableOf(name);
    let [unseen, waitMs] = [0, 0];
    let { limit } = limits[name];
    for (const cell of cells) {
      if (table.get(cell.id) === undefined) unseen += 1;
      const { retryAfterMs } = gcraJudge(cell.limit, arrivalOf(table, cell, nowMs), nowMs);
      if (retryAfterMs <= waitMs) continue;
      waitMs = retryAfterMs;
      ({ limit } = cell.limit);
    }
    const hasRoom = table.makeRoom(unseen, nowMs) || limits[name].failsClosed !== true;
    if (!hasRoom) waitMs = Math.max(waitMs, 1_000);
    if (waitMs === 0) return allowedVerdict;
    const seconds = Math.ceil(waitMs / 1_000);
    const allowance = { limit, remaining: 0, resetSeconds: seconds };
    return { allowed: false, retryAfterSeconds: seconds, allowance };
  }

  /** @param counts whether the attempt counts; otherwise the function only returns the allowance */
  function count(name: Name, cells: readonly Cell[], nowMs: number, counts = true): Allowance | null {
    const table = tableOf(name);
    let nearest: Allowance | null = null;
    for (const cell of cells) {
      if (counts) table.set(cell.id, gcraCount(cell.limit, table.get(cell.id), nowMs));
      const allowance = gcraAllowance(cell.limit, arrivalOf(table, cell, nowMs), nowMs);
      nearest = nearerToRefusal(nearest, allowance);
    }
    return nearest;
  }

  return {
    /** Counts one attempt if all keys allow it; a refused attempt counts nowhere. */
    check: (name: Name, key: RateKey): RateVerdict => {
      const nowMs = clock.steadyMs();
      const cells = cellsOf(name, key);
      const verdict = judge(name, cells, nowMs);
      if (!verdict.allowed) return verdict;
      return { allowed: true, retryAfterSeconds: 0, allowance: count(name, cells, nowMs) };
    },
    /** Returns the keys in memory: of limits that fail closed, and of the others. */
    keys: () => ({ closed: closedTable.size(), open: openTable.size() }),
    /** Counts an amount that is known only afterwards. It may exceed the limit, which then refuses for longer. */
    charge: (name: Name, key: RateKey, amount: number) => {
      const nowMs = clock.steadyMs();
      const [table, cells] = [tableOf(name), cellsOf(name, key)];
      table.makeRoom(cells.length, nowMs);
      for (const { id, limit } of cells) table.set(id, gcraCount(limit, table.get(id), nowMs, amount));
    },
    /** Judges an attempt and counts none. */
    probe: (name: Name, key: RateKey) => judge(name, cellsOf(name, key), clock.steadyMs()),
    /**
     * Makes a reservation for an attempt that counts only after some outcomes, if all keys of all limits allow it. A
     * reservation counts, so that no more attempts run at once than the limit allows. A refused attempt takes none.
     */
    reserve: (claims: readonly RateClaim<Name>[]): Reservation<Name> => {
      const nowMs = clock.steadyMs();
      const reservations = claims.map(({ name, key }) => ({ name, cells: cellsOf(name, key) }));
      const verdicts = reservations.map(({ name, cells }) => judge(name, cells, nowMs));
      const [refusal] = verdicts
        .filter(({ allowed }) => !allowed)
        .sort((one, other) => other.retryAfterSeconds - one.retryAfterSeconds);
      if (refusal !== undefined) return { ...refusal, allowed: false };
      for (const { cells } of reservations) cells.forEach(hold);
      return {
        allowed: true,
        settle: (counts) => {
          const settledMs = clock.steadyMs();
          let nearest: Allowance | null = null;
          for (const { name, cells } of reservations) {
            cells.forEach(release);
            const isCounted = counts(name);
            // Only makes room: an allowed attempt counts in any case.
            if (isCounted) judge(name, cells, settledMs);
            const allowance = count(name, cells, settledMs, isCounted);
            if (allowance !== null) nearest = nearerToRefusal(nearest, allowance);
          }
          return nearest;
        },
      };
    },
  };
}

const allowedVerdict: RateVerdict = { allowed: true, retryAfterSeconds: 0, allowance: null };

/** The length separates the name from the key without ambiguity. */
function idOf(name: string, key: string): string {
  return `${name.length} ${name}${key}`;
}

/** Theoretical arrival times by key, in bounded space. */
type ArrivalTable = ReturnType<typeof makeArrivalTable>;

function makeArrivalTable(capacity: number) {
  const keysMax = Math.max(1, Math.floor(capacity));
  const arrivals = makeLru<number>(keysMax);

  function leastRecent(count: number): readonly string[] {
    const oldest: string[] = [];
    for (const id of arrivals.rkeys()) {
      oldest.push(id);
      if (oldest.length === count) break;
    }
    return oldest;
  }

  return {
    size: () => arrivals.size,
    get: (id: string) => arrivals.peek(id),
    /** Stores the time; a full table evicts the key with the oldest count. */
    set: (id: string, arrivalMs: number) => arrivals.set(id, arrivalMs),
    /** Evicts keys that equal fresh ones. Returns whether `count` more keys have room. */
    makeRoom: (count: number, nowMs: number): boolean => {
      const hasRoom = () => arrivals.size + count <= keysMax;
      if (hasRoom()) return true;
      for (const id of leastRecent(evictionProbesMax)) {
        if ((arrivals.peek(id) ?? nowMs) <= nowMs) arrivals.delete(id);
        // The key still counts: `get` makes it the most recent.
        else arrivals.get(id);
      }
      return hasRoom();
    },
  };
}
