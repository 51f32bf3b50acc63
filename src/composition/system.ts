import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Random } from '../event-sourcing/clock.js';

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Jitter needs no more than this; keys and tokens come from `node:crypto`. */
export const systemRandom: Random = () => Math.random();
