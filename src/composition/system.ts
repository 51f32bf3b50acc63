import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Random } from '../kit/time/clock.js';

export const systemClock: Clock = {
  now: () => new Date(),
  steadyMs: () => performance.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal === undefined ? {} : { signal });
  },
  timer: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Jitter needs no cryptographic randomness. Keys and tokens use `node:crypto`. */
export const systemRandom: Random = () => Math.random();
