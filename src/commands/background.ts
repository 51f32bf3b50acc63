import { Overloaded } from '../event-sourcing/errors.js';

/** Work that goes on when its caller has been answered. */
export interface Background {
  /** @param what for whoever is told that it failed @throws Overloaded when too much is under way */
  start(what: string, work: () => Promise<void>): void;
  /** Resolves once all that was started has ended. */
  settled(): Promise<void>;
}

export function makeBackground({
  max = 1_000,
  onFailure,
}: {
  /** How much may be under way at once. */
  readonly max?: number;
  readonly onFailure: (what: string, error: unknown) => void;
}): Background {
  const running = new Set<Promise<void>>();
  return {
    start: (what, work) => {
      if (running.size >= max) throw new Overloaded('too much is under way in the background');
      const task: Promise<void> = work()
        .catch((error: unknown) => {
          onFailure(what, error);
        })
        .finally(() => running.delete(task));
      running.add(task);
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
