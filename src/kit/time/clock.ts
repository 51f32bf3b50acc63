/** The wall clock and the timer, passed as an argument so that a test controls time. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that no operator sets, for ages and waits. Its begin has no meaning. */
  steadyMs(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs the work after `ms` milliseconds, unless the returned function is called before. Without it, see `sleep`. */
  readonly timer?: (ms: number, work: () => void) => () => void;
}

export type SteadyClock = Pick<Clock, 'steadyMs'>;

/** Returns a number in [0, 1). */
export type Random = () => number;

/**
 * Returns a random wait in milliseconds, below `first` doubled for each attempt and capped at `cap`. Source: "full
 * jitter" in Marc Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015).
 */
export function backoff(
  attempt: number,
  random: Random,
  { first, cap }: { first: number; cap: number },
): number {
  return random() * Math.min(cap, first * 2 ** Math.min(attempt, 30));
}

/** Returns whether a time is less than `ms` ago. One that is further ahead was noted by a clock that was set back since: it is not recent. */
export function isRecent(at: Date | number, ms: number, now: Date | number): boolean {
  return Math.abs(Number(now) - Number(at)) < ms;
}
