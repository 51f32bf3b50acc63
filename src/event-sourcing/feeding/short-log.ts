import { type SteadyClock, steadyMsOf } from '../../kit/time/clock.js';

/** Distinguishes a log that is short for a moment from a log that an older one has replaced. */
export interface ShortLog {
  /** Call it when an event is missing. Returns whether events have been missing for `waitMs`. */
  isLasting(): boolean;
  /** Call it when no event is missing: the wait starts again. */
  whole(): void;
}

/** @param waitMs `EventStore.shortLogMs` */
export function makeShortLog({
  clock,
  waitMs,
}: {
  readonly clock: SteadyClock;
  readonly waitMs: number;
}): ShortLog {
  let sinceMs: number | null = null;
  return {
    isLasting: () => {
      const nowMs = steadyMsOf(clock);
      sinceMs ??= nowMs;
      return nowMs - sinceMs >= waitMs;
    },
    whole: () => {
      sinceMs = null;
    },
  };
}
