import type { Clock } from '../event-sourcing/clock.js';
import { makeLru } from '../event-sourcing/lru.js';
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

/** A key under a named limit. */
export interface RateClaim<Name extends string> {
  readonly name: Name;
  readonly key: RateKey;
}

/** A place under each claimed limit while it is not known yet whether it counts; or the refusal. */
export type Reservation<Name extends string> =
  | (RateVerdict & { readonly allowed: false })
  | {
      readonly allowed: true;
      /** Gives the places back, and counts one under each limit for which it says so. To be called once, whatever happened. */
      settle(counts: (name: Name) => boolean): void;
    };

/** Counts by named limits in this process. Neither call waits or throws for a key. */
export interface RateLimiter<Name extends string> {
  /** Counts one if all keys allow it; a refused one counts nowhere. */
  check(name: Name, key: RateKey): RateVerdict;
  /**
   * Takes a place for what counts only by its outcome, if all keys of all limits allow it; a refused one takes none anywhere.
   * While it is held it stands for one that counts, so that no more of them run at once than would be allowed.
   */
  reserve(claims: readonly RateClaim<Name>[]): Reservation<Name>;
}

/** Keys kept by all limits together. */
const capacityDefault = 100_000;
/** Entries looked at to find those that may be forgotten. */
const evictionProbesMax = 8;

interface Cell {
  readonly id: string;
  readonly limit: RateLimit;
}

/**
 * @param limits positive numbers, by name
 * @param capacity keys kept: half of them for the limits that fail closed, so that no flood of others displaces them
 */
export function makeRateLimiter<Name extends string>({
  clock,
  limits,
  capacity = capacityDefault,
}: {
  readonly clock: Clock;
  readonly limits: Readonly<Record<Name, NamedLimit>>;
  readonly capacity?: number;
}): RateLimiter<Name> {
  const closedTable = makeArrivalTable(capacity / 2);
  const openTable = makeArrivalTable(capacity / 2);
  const tableOf = (name: Name) => (limits[name].failsClosed === true ? closedTable : openTable);
  /** Places held by cell. As many as requests are running, so the service bounds them. */
  const held = new Map<string, number>();

  /** The arrival time of a cell as if all that hold a place in it counted now. */
  function arrivalOf(table: ArrivalTable, { id, limit }: Cell, nowMs: number): number | undefined {
    const places = held.get(id);
    let arrivalMs = table.get(id);
    if (places === undefined) return arrivalMs;
    for (let place = 0; place < places; place += 1) arrivalMs = gcraCount(limit, arrivalMs, nowMs);
    return arrivalMs;
  }

  function hold({ id }: Cell): void {
    held.set(id, (held.get(id) ?? 0) + 1);
  }

  function release({ id }: Cell): void {
    const places = held.get(id) ?? 0;
    if (places > 1) held.set(id, places - 1);
    else held.delete(id);
  }

  function cellsOf(name: Name, key: RateKey): readonly Cell[] {
    const { limit, seconds } = limits[name];
    if (typeof key === 'string') return [{ id: idOf(name, key), limit: limits[name] }];
    return key.map(({ key: text, factor }) => ({
      id: idOf(name, text),
      limit: { limit: limit * factor, seconds },
    }));
  }

  function judge(name: Name, cells: readonly Cell[], nowMs: number): RateVerdict {
    const table = tableOf(name);
    let [unseen, waitMs] = [0, 0];
    for (const cell of cells) {
      if (table.get(cell.id) === undefined) unseen += 1;
      const { retryAfterMs } = gcraJudge(cell.limit, arrivalOf(table, cell, nowMs), nowMs);
      waitMs = Math.max(waitMs, retryAfterMs);
    }
    const hasRoom = table.makeRoom(unseen, nowMs) || limits[name].failsClosed !== true;
    if (!hasRoom) waitMs = Math.max(waitMs, 1_000);
    return { allowed: waitMs === 0, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
  }

  function count(name: Name, cells: readonly Cell[], nowMs: number): void {
    const table = tableOf(name);
    for (const { id, limit } of cells) table.set(id, gcraCount(limit, table.get(id), nowMs));
  }

  return {
    check: (name, key) => {
      const nowMs = clock.now().getTime();
      const cells = cellsOf(name, key);
      const verdict = judge(name, cells, nowMs);
      if (verdict.allowed) count(name, cells, nowMs);
      return verdict;
    },
    reserve: (claims) => {
      const nowMs = clock.now().getTime();
      const places = claims.map(({ name, key }) => ({ name, cells: cellsOf(name, key) }));
      const verdicts = places.map(({ name, cells }) => judge(name, cells, nowMs));
      if (verdicts.some(({ allowed }) => !allowed)) {
        const waits = verdicts.map(({ retryAfterSeconds }) => retryAfterSeconds);
        return { allowed: false, retryAfterSeconds: Math.max(...waits) };
      }
      for (const { cells } of places) cells.forEach(hold);
      return {
        allowed: true,
        settle: (counts) => {
          const settledMs = clock.now().getTime();
          for (const { name, cells } of places) {
            cells.forEach(release);
            if (!counts(name)) continue;
            // Makes room; what was allowed is counted in any case.
            judge(name, cells, settledMs);
            count(name, cells, settledMs);
          }
        },
      };
    },
  };
}

/** With its length a name ends where it ends, whatever the key begins with. */
function idOf(name: string, key: string): string {
  return `${name.length} ${name}${key}`;
}

/** Theoretical arrival times by key, in bounded space. */
interface ArrivalTable {
  get(id: string): number | undefined;
  /** Keeps the time; in a full table the key that was counted longest ago is forgotten. */
  set(id: string, arrivalMs: number): void;
  /** Whether there is room for so many more, after forgetting keys that say no more than fresh ones would. */
  makeRoom(count: number, nowMs: number): boolean;
}

function makeArrivalTable(capacity: number): ArrivalTable {
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
    get: (id) => arrivals.peek(id),
    set: (id, arrivalMs) => {
      arrivals.set(id, arrivalMs);
    },
    makeRoom: (count, nowMs) => {
      const fits = () => arrivals.size + count <= keysMax;
      if (fits()) return true;
      for (const id of leastRecent(evictionProbesMax)) {
        if ((arrivals.peek(id) ?? nowMs) <= nowMs) arrivals.delete(id);
        // A second chance: it still counts, so it goes to the end of the queue.
        else arrivals.get(id);
      }
      return fits();
    },
  };
}
