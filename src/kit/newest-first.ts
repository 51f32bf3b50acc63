import { setTimeout as delay } from 'node:timers/promises';
import type { Line, Waiter } from './semaphore.js';

/** Urgent callers pass all others, always oldest first: newest first would starve the upkeep of the process and the end of work that has begun. */
interface Urgency {
  readonly urgent?: boolean;
}

interface Since {
  readonly waiter: Waiter<Urgency>;
  readonly sinceMs: number;
}

const monotonicClock = { now: () => new Date(performance.now()), sleep: async (ms: number) => delay(ms) };

/**
 * Makes the line before a resource, for example the connections of a driver's pool. Under overload the newest caller is next:
 * the clients of the oldest have timed out. It is overloaded while the oldest caller has waited for a quarter of the longest wait.
 * Before that the oldest is next, because newest first would refuse callers that a queue of ordinary length serves in time:
 * docs/decisions/store-calls.md#0034-a-gate-before-the-driver.
 * @param options.waitMs the longest wait
 * @param options.clock measures the waits; by default a monotonic one, because a stepped wall clock would keep callers
 * @param options.refused makes the error of a caller that has waited too long
 */
export function makeNewestFirst(options: {
  readonly waitMs: number;
  readonly clock?: { now(): Date; sleep(ms: number): Promise<void> };
  readonly refused: () => Error;
}): Line<Urgency> {
  const { waitMs, clock = monotonicClock, refused } = options;
  /** Both in order of arrival: the newest is at the end. */
  const [urgent, others]: [Since[], Since[]] = [[], []];
  let isExpiring = false;

  return {
    add: (waiter) => {
      const line = waiter.caller.urgent === true ? urgent : others;
      line.push({ waiter, sinceMs: nowMs() });
      if (!isExpiring) void expire();
    },
    next: () => (urgent.shift() ?? (isOverloaded() ? others.pop() : others.shift()))?.waiter,
    remove: (waiter) => {
      for (const line of [urgent, others]) {
        const at = line.findIndex((one) => one.waiter === waiter);
        if (at >= 0) line.splice(at, 1);
      }
    },
    size: () => urgent.length + others.length,
  };

  function nowMs(): number {
    return clock.now().getTime();
  }

  function isOverloaded(): boolean {
    const [oldest] = others;
    return oldest !== undefined && nowMs() - oldest.sinceMs >= waitMs / 4;
  }

  /** Refuses the oldest callers when their time is up. One timer serves all, because they are many. */
  async function expire(): Promise<void> {
    isExpiring = true;
    for (let oldest = oldestOf(); oldest !== undefined; oldest = oldestOf()) {
      const leftMs = oldest.sinceMs + waitMs - nowMs();
      if (leftMs > 0) await clock.sleep(leftMs);
      else oldest.waiter.refuse(refused());
    }
    isExpiring = false;
  }

  function oldestOf(): Since | undefined {
    const [[one], [other]] = [urgent, others];
    return one !== undefined && one.sinceMs <= (other?.sinceMs ?? Infinity) ? one : other;
  }
}
