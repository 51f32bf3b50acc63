import type { Clock } from '../../../src/kit/time/clock.js';

/** A clock that only the test moves. Each sleeper wakes exactly at its time, in the order of the times. */
export interface VirtualClock extends Clock {
  /** Sets the wall clock ahead or back, as an operator does. No time passes. */
  set(byMs: number): void;
  /** Moves the time and runs everything that falls due on the way to its end. */
  advance(ms: number): Promise<void>;
  /** Moves the time from sleeper to sleeper until the condition holds. */
  until(condition: () => boolean, limitMs?: number): Promise<void>;
  /** Moves the time from sleeper to sleeper until the work ends, and returns its result or throws its error. */
  run<Result>(work: Promise<Result>, limitMs?: number): Promise<Result>;
  /** The present number of sleepers. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly dueMs: number;
  wake(): void;
}

export function makeVirtualClock(): VirtualClock {
  let nowMs = Date.parse('2026-01-02T03:04:05.000Z');
  let setByMs = 0;
  /** In the order in which they wake. */
  const sleepers: Sleeper[] = [];

  return {
    now: () => new Date(nowMs + setByMs),
    steadyMs: () => nowMs,
    set: (byMs) => {
      setByMs += byMs;
    },
    sleep,
    advance,
    until,
    run: async (work, limitMs) => {
      let settled = false;
      const settle = (): void => {
        settled = true;
      };
      work.then(settle, settle);
      await until(() => settled, limitMs);
      return work;
    },
    get sleepers() {
      return sleepers.length;
    },
  };

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        remove(sleeper);
        reject(signal?.reason as Error);
      };
      const sleeper: Sleeper = {
        dueMs: nowMs + ms,
        wake: () => {
          remove(sleeper);
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      sleepers.splice(sleepers.findLastIndex(({ dueMs }) => dueMs <= sleeper.dueMs) + 1, 0, sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async function advance(ms: number): Promise<void> {
    const goalMs = nowMs + ms;
    await allRun();
    for (let [next] = sleepers; next !== undefined && next.dueMs <= goalMs; [next] = sleepers)
      await wake(next);
    nowMs = goalMs;
  }

  async function until(condition: () => boolean, limitMs = 600_000): Promise<void> {
    const limit = nowMs + limitMs;
    await allRun();
    while (!condition()) {
      const [next] = sleepers;
      if (next === undefined) throw new Error('no work waits for the clock, and the condition does not hold');
      if (next.dueMs > limit) throw new Error(`the condition did not hold within ${limitMs} ms`);
      await wake(next);
    }
  }

  async function wake(sleeper: Sleeper): Promise<void> {
    nowMs = Math.max(nowMs, sleeper.dueMs);
    sleeper.wake();
    await allRun();
  }

  function remove(sleeper: Sleeper): void {
    const place = sleepers.indexOf(sleeper);
    if (place !== -1) sleepers.splice(place, 1);
  }
}

/** Stores in memory answer in microtasks. After one turn of the event loop all work has run as far as possible. */
function allRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
