import { setTimeout as delay } from 'node:timers/promises';

import type { Clock } from '../../../src/kit/time/clock.js';

export interface SettableClock extends Clock {
  advance(ms: number): void;
}

/**
 * Makes a wall clock that only the test moves. `sleep` takes real time, because tests wait for real input and output.
 * The clock starts in the future, so that the housekeeping of a server, by the server's clock, removes no record that a
 * test needs.
 */
export function settableClock(start = new Date('2100-01-01T00:00:00.000Z')): SettableClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    steadyMs: () => now,
    sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
    advance: (ms) => {
      now += ms;
    },
  };
}
