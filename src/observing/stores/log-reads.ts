import type { Availability } from './availability.js';
import { type SteadyClock, steadyMsOf } from '../../kit/time/clock.js';

/** Whether the process can read the log onwards. The end of a log may answer while its records cannot be read. */
export interface LogReads {
  succeeded(): void;
  failed(): void;
  /**
   * Returns the time on the steady clock since which every read has failed although the store answers; null after a read that
   * succeeded, before the first one, while the store is away, and in a process that reads the log no more.
   */
  failingSinceMs(): number | null;
}

/**
 * A process that follows the log tries again sooner: a call takes 7 s at most, and a back-off 10 s. After this time another
 * process reads the log.
 */
const restMs = 30_000;

export function makeLogReads({
  clock,
  availability,
}: {
  readonly clock: SteadyClock;
  readonly availability: Pick<Availability, 'awaySinceMs' | 'onReturn'>;
}): LogReads {
  let failing: { readonly sinceMs: number; readonly lastMs: number } | null = null;
  const forget = (): void => {
    failing = null;
  };
  const current = () => (failing !== null && steadyMsOf(clock) - failing.lastMs < restMs ? failing : null);
  availability.onReturn(forget);
  return {
    succeeded: forget,
    failed: () => {
      const nowMs = steadyMsOf(clock);
      failing = { sinceMs: current()?.sinceMs ?? nowMs, lastMs: nowMs };
    },
    failingSinceMs: () => (availability.awaySinceMs() === null ? (current()?.sinceMs ?? null) : null),
  };
}
