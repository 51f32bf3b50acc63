import type { Clock } from './clock.js';
import { StoreUnavailable } from './errors.js';

/** Work may be cut off by so much earlier than its limit. */
const sharedMs = 100;

/** Waits for work as long as a limit allows. Work that is cut off goes on by itself. @throws StoreUnavailable */
export type WithinLimit = <Result>(work: Promise<Result>) => Promise<Result>;

/**
 * A time limit for work that begins often. What begins within a tenth of a second shares a timer: one for each, and the error by
 * which a timer ends, would cost more than much of the work that is waited for.
 * @param problem what to say of work that took longer
 */
export function makeSharedLimit({
  clock,
  limitMs,
  problem,
}: {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly problem: string;
}): WithinLimit {
  let latest: Limit | null = null;
  return async (work) => {
    const limit = currentLimit();
    limit.users += 1;
    try {
      return await Promise.race([work, limit.exceeded]);
    } finally {
      limit.users -= 1;
      // The reason that it would make by itself is an error with its stack, which costs more than the timer.
      if (limit.users === 0) limit.end.abort('over');
    }
  };

  function currentLimit(): Limit {
    const nowMs = clock.now().getTime();
    const ageMs = nowMs - (latest?.sinceMs ?? 0);
    if (latest === null || latest.end.signal.aborted || ageMs < 0 || ageMs > sharedMs) {
      latest = startLimit(nowMs);
    }
    return latest;
  }

  function startLimit(sinceMs: number): Limit {
    const end = new AbortController();
    const exceeded = clock.sleep(limitMs, end.signal).then(
      () => {
        throw new StoreUnavailable(problem);
      },
      // Nobody needs it any more.
      () => new Promise<never>(() => undefined),
    );
    return { sinceMs, exceeded, end, users: 0 };
  }
}

/** A time limit, and how many wait under it. */
interface Limit {
  readonly sinceMs: number;
  /** Rejects when the time is over. */
  readonly exceeded: Promise<never>;
  readonly end: AbortController;
  users: number;
}
