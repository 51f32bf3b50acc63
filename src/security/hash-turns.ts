/** Whom others go before: the patient wait while anybody eager does. Each kind is served in the order it came. */
export type Patience = 'eager' | 'patient';

/** Lets a bounded number of those who come do their work at once. */
export interface Turns {
  /** Waits for a turn. @returns what ends it, to be called once @throws the signal's reason, when it aborts before */
  take(patience: Patience, signal: AbortSignal): Promise<() => void>;
}

export function makeTurns(max: number): Turns {
  // Sets keep the order in which they were filled.
  const waiting = { eager: new Set<() => void>(), patient: new Set<() => void>() };
  let running = 0;

  /** The turn goes straight to the next, so that nobody who came later takes it. */
  function end(): void {
    for (const kind of [waiting.eager, waiting.patient]) {
      const [next] = kind;
      if (next === undefined) continue;
      kind.delete(next);
      next();
      return;
    }
    running -= 1;
  }

  return {
    take: async (patience, signal) => {
      signal.throwIfAborted();
      if (running < max) {
        running += 1;
        return end;
      }
      const kind = waiting[patience];
      await new Promise<void>((resolve, reject) => {
        const begin = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = (): void => {
          kind.delete(begin);
          reject(signal.reason as Error);
        };
        kind.add(begin);
        signal.addEventListener('abort', giveUp, { once: true });
      });
      return end;
    },
  };
}
