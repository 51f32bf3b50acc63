import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Random } from '../../../src/kit/time/clock.js';

/** The real clock, for tests that wait for real events. */
export const realClock: Clock = {
  now: () => new Date(),
  steadyMs: () => performance.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** A clock that stands still until a test moves it. `sleep` moves it and returns at once. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Sets the wall clock ahead or back, as an operator does. No time passes. */
  set(byMs: number): void;
}

export function makeTestClock(start = '2026-01-02T03:04:05.000Z'): TestClock {
  let nowMs = Date.parse(start);
  let setByMs = 0;
  return {
    now: () => new Date(nowMs + setByMs),
    steadyMs: () => nowMs,
    sleep: (ms, signal) => {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      nowMs += ms;
      return Promise.resolve();
    },
    advance: (ms) => {
      nowMs += ms;
    },
    set: (byMs) => {
      setByMs += byMs;
    },
  };
}

/** Makes seeded random numbers in [0, 1): mulberry32 (Tommy Ettinger, public domain). */
export function makeSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws one of the items. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}
