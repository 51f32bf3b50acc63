import type { Position } from '../../ports/domain-event.js';

/** When this process saw the head of the log move, to tell how old the oldest event is that a reader has not processed. */
export interface HeadHistory {
  /** Notes that the log reaches at least to the position. */
  note(position: Position | null): void;
  /** Returns the furthest noted position; null for an empty log. */
  head(): Position | null;
  /** Returns for how long the log has held an event after the position; 0 when it holds none. */
  lagMs(position: Position | null): number;
}

const samplesMax = 1_000;

/** @param elapsedMs a clock that never goes back */
export function makeHeadHistory(elapsedMs: () => number): HeadHistory {
  let samples: { readonly position: Position; readonly atMs: number }[] = [];

  return {
    note: (position) => {
      const last = samples.at(-1);
      if (position === null || (last !== undefined && position <= last.position)) return;
      samples.push({ position, atMs: elapsedMs() });
      // The oldest and the newest stay, and a lag in between becomes less exact.
      if (samples.length > samplesMax) samples = samples.filter((_, index) => index % 2 === 0);
    },
    head: () => samples.at(-1)?.position ?? null,
    lagMs: (position) => {
      const first = samples.find((sample) => position === null || sample.position > position);
      return first === undefined ? 0 : elapsedMs() - first.atMs;
    },
  };
}
