import { setTimeout as delay } from 'node:timers/promises';

import type { Clock } from '../../src/event-sourcing/clock.js';

export interface SettableClock extends Clock {
  advance(ms: number): void;
}

/**
 * A wall clock that only the test moves; waiting is real, since real input and output are waited for.
 * It starts in the future, so that no server's own housekeeping by its own clock removes what the test still needs.
 */
export function settableClock(start = new Date('2100-01-01T00:00:00.000Z')): SettableClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
    advance: (ms) => {
      now += ms;
    },
  };
}
