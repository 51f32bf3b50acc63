import { setTimeout as delay } from 'node:timers/promises';

/**
 * A bounded number of places in front of a resource, for example the connections of a driver's pool.
 *
 * Under overload it admits the newest waiting operation first: the oldest waiters have clients that have given up, and
 * first-come order would serve everybody too late. It is overloaded while the oldest operation has waited for a quarter
 * of the longest wait. Before that the oldest goes first, because newest first would refuse operations that a queue of
 * ordinary length serves in time: docs/decisions/store-calls.md#0034-a-gate-before-the-driver.
 */
export interface AdmissionGate {
  /**
   * Runs the work with a place, which stays taken until the work ends. `urgent` work passes all other waiters, always
   * oldest first: newest first would starve the upkeep of the process and the end of work that has begun.
   * @throws the refusal when the work has waited too long; then it never started
   */
  run<Result>(work: () => Promise<Result>, options?: { readonly urgent?: boolean }): Promise<Result>;
  /** Operations that run and that wait, for metrics. */
  readonly running: () => number;
  readonly waiting: () => number;
}

interface Waiter {
  readonly sinceMs: number;
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

const monotonicClock = { now: () => new Date(performance.now()), sleep: async (ms: number) => delay(ms) };

/**
 * @param options.places operations that run at once
 * @param options.waitMs the longest wait for a place
 * @param options.clock measures the waits; by default a monotonic one, because a stepped wall clock would keep waiters
 * @param options.refused makes the error of an operation that has waited too long
 */
export function makeAdmissionGate(options: {
  readonly places: number;
  readonly waitMs: number;
  readonly clock?: { now(): Date; sleep(ms: number): Promise<void> };
  readonly refused: () => Error;
}): AdmissionGate {
  const { places, waitMs, clock = monotonicClock, refused } = options;
  /** Both in order of arrival: the newest is at the end. */
  const urgentWaiters: Waiter[] = [];
  const waiters: Waiter[] = [];
  let running = 0;
  let isExpiring = false;

  return {
    run: async (work, { urgent = false } = {}) => {
      if (running < places) running += 1;
      else await place(urgent ? urgentWaiters : waiters);
      try {
        return await work();
      } finally {
        release();
      }
    },
    running: () => running,
    waiting: () => urgentWaiters.length + waiters.length,
  };

  function place(queue: Waiter[]): Promise<void> {
    return new Promise((admit, refuse) => {
      queue.push({ sinceMs: clock.now().getTime(), admit, refuse });
      if (!isExpiring) void expire();
    });
  }

  /** Hands the place directly to the next waiter, so that no later operation takes it. */
  function release(): void {
    const next = urgentWaiters.shift() ?? (isOverloaded() ? waiters.pop() : waiters.shift());
    if (next === undefined) running -= 1;
    else next.admit();
  }

  function isOverloaded(): boolean {
    const [oldest] = waiters;
    return oldest !== undefined && clock.now().getTime() - oldest.sinceMs >= waitMs / 4;
  }

  /** Refuses the oldest waiters when their time is up. One timer serves all waiters, because they are many. */
  async function expire(): Promise<void> {
    isExpiring = true;
    for (let queue = queueOfOldest(); queue !== null; queue = queueOfOldest()) {
      const leftMs = (queue[0]?.sinceMs ?? 0) + waitMs - clock.now().getTime();
      if (leftMs > 0) await clock.sleep(leftMs);
      else queue.shift()?.refuse(refused());
    }
    isExpiring = false;
  }

  function queueOfOldest(): Waiter[] | null {
    const [urgent] = urgentWaiters;
    const [other] = waiters;
    if (urgent === undefined && other === undefined) return null;
    return (urgent?.sinceMs ?? Infinity) <= (other?.sinceMs ?? Infinity) ? urgentWaiters : waiters;
  }
}
