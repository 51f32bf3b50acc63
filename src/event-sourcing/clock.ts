/** Time as an argument: the wall clock and waiting. */
export interface Clock {
  now(): Date;
  /** Resolves after the milliseconds; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A number in [0, 1). */
export type Random = () => number;

/** Full jitter: a random wait below a doubling bound (milliseconds). Marc Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015). */
export function backoff(
  attempt: number,
  random: Random,
  { first, cap }: { first: number; cap: number },
): number {
  return random() * Math.min(cap, first * 2 ** Math.min(attempt, 30));
}
