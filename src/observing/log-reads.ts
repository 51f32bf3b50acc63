import type { Availability } from '../concurrency/availability.js';
import { type SteadyClock, steadyMsOf } from '../event-sourcing/ports/clock.js';

/** Whether the process can read the log onwards. The end of a log may answer while its records cannot be read. */
export interface LogReads {
  succeeded(): void;
  failed(): void;
  /**
   * Returns the time on the steady clock since which every read has failed although the store answers; null after a read that succeeded, before the
   * first one, and while the store is away.
   */
  failingSinceMs(): number | null;
}

export function makeLogReads({
  clock,
  availability,
}: {
  readonly clock: SteadyClock;
  readonly availability: Pick<Availability, 'awaySinceMs' | 'onReturn'>;
}): LogReads {
  let failingSinceMs: number | null = null;
  const forget = (): void => {
    failingSinceMs = null;
  };
  availability.onReturn(forget);
  return {
    succeeded: forget,
    failed: () => {
      failingSinceMs ??= steadyMsOf(clock);
    },
    failingSinceMs: () => (availability.awaySinceMs() === null ? failingSinceMs : null),
  };
}
