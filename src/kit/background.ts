import { Overloaded } from './overloaded.js';

/** Runs work that continues after the reply to its caller. */
export interface Background {
  /** @param what names the work in the report of its failure @throws Overloaded when too much work runs */
  start(what: string, work: () => Promise<void>): void;
  /** Resolves when all started work has ended. */
  settled(): Promise<void>;
}

export function makeBackground({
  max = 1_000,
  onFailure,
}: {
  /** Units of work that may run at once. */
  readonly max?: number;
  readonly onFailure: (what: string, error: unknown) => void;
}): Background {
  const running = new Set<Promise<void>>();
  return {
    start: (what, work) => {
      if (running.size >= max) throw new Overloaded('too much work runs in the background');
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
