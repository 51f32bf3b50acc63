/** Watches parts that should be fed. Standing still is the fault: a part that progresses slowly is none. */
export interface Standstill {
  /**
   * Notes the progress of a part.
   * @param progress differs after any progress
   * @param waits whether events wait for the part
   */
  note(part: string, progress: string | null, waits: boolean): void;
  /** Forgets a part that this process can judge by itself. */
  forget(part: string): void;
  /** Returns the parts that have stood still for at least `ms` while events waited, and for how long. */
  longerThan(ms: number): readonly StandingPart[];
}

export interface StandingPart {
  readonly part: string;
  readonly forMs: number;
}

/** @param elapsedMs a clock that never goes back */
export function makeStandstill(elapsedMs: () => number): Standstill {
  const noted = new Map<string, Noted>();
  return {
    note: (part, progress, waits) => {
      const before = noted.get(part);
      const notedMs = elapsedMs();
      const standsStill = waits && before?.progress === progress;
      noted.set(part, { progress, sinceMs: standsStill ? before.sinceMs : notedMs, notedMs });
    },
    forget: (part) => {
      noted.delete(part);
    },
    longerThan: (ms) =>
      [...noted]
        // Up to the last note: while the stores cannot be read, nothing shows whether a part stands still.
        .map(([part, { sinceMs, notedMs }]) => ({ part, forMs: notedMs - sinceMs }))
        .filter(({ forMs }) => forMs >= ms),
  };
}

interface Noted {
  readonly progress: string | null;
  readonly sinceMs: number;
  readonly notedMs: number;
}
