import type { Availability } from '../concurrency/availability.js';

/** Whether the process can read the log onwards. The end of a log may answer while its records cannot be read. */
export interface LogReads {
  succeeded(): void;
  failed(): void;
  /**
   * Returns since when every read has failed although the store answers; null after a read that succeeded, before the
   * first one, and while the store is away.
   */
  failingSince(): Date | null;
}

export function makeLogReads({
  clock,
  availability,
}: {
  readonly clock: { now(): Date };
  readonly availability: Pick<Availability, 'awaySince' | 'onReturn'>;
}): LogReads {
  let failingSince: Date | null = null;
  const forget = (): void => {
    failingSince = null;
  };
  availability.onReturn(forget);
  return {
    succeeded: forget,
    failed: () => {
      failingSince ??= clock.now();
    },
    failingSince: () => (availability.awaySince() === null ? failingSince : null),
  };
}
