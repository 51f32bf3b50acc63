import { type Clock, steadyMsOf } from './clock.js';

/**
 * Makes a function that returns the milliseconds since then. They never go back: a step of the clock to an earlier time
 * counts as no time, so no wait lasts for the length of the step.
 */
export function makeElapsed(clock: Pick<Clock, 'now' | 'steadyMs'>): () => number {
  let lastMs = steadyMsOf(clock);
  let elapsedMs = 0;
  return () => {
    const nowMs = steadyMsOf(clock);
    elapsedMs += Math.max(0, nowMs - lastMs);
    lastMs = nowMs;
    return elapsedMs;
  };
}
