import type { Clock } from './clock.js';

/** Tells a log that ends too early for a moment from one that was replaced by an older one. */
export interface ShortLog {
  /** To be called when something is missing that was in the log before: whether it has been for so long that it stays so. */
  isLasting(): boolean;
  /** To be called when nothing is missing: the next time is another one. */
  whole(): void;
}

/** @param waitMs how long a short log is waited for, as the store says (`EventStore.shortLogMs`) */
export function makeShortLog({
  clock,
  waitMs,
}: {
  readonly clock: Clock;
  readonly waitMs: number;
}): ShortLog {
  let sinceMs: number | null = null;
  return {
    isLasting: () => {
      const nowMs = clock.now().getTime();
      sinceMs ??= nowMs;
      return nowMs - sinceMs >= waitMs;
    },
    whole: () => {
      sinceMs = null;
    },
  };
}
