import { Overloaded } from './semaphore.js';

/** Runs work that continues after the reply to its caller. */
export type Background = ReturnType<typeof makeBackground>;

/** Units of work that may run at once. */
const max = 1_000;

export function makeBackground(deps: { readonly onFailure: (what: string, error: unknown) => void }) {
  const running = new Set<Promise<void>>();
  const keys = new Set<string>();
  const start = (what: string, work: () => Promise<void>): void => {
    if (running.size >= max) throw new Overloaded('too much work runs in the background');
    const task: Promise<void> = work()
      .catch((error: unknown) => deps.onFailure(what, error))
      .finally(() => running.delete(task));
    running.add(task);
  };
  return {
    /** @param what names the work in the report of its failure @throws Overloaded when too much work runs */
    start,
    /**
     * Starts work that a later attempt repeats if it is lost: not while work with this key runs, and not when too much runs.
     * @param key unique in the process
     */
    startOnce: (key: string, what: string, work: () => Promise<void>) => {
      if (keys.has(key) || running.size >= max) return;
      keys.add(key);
      start(what, () => work().finally(() => keys.delete(key)));
    },
    /** Resolves when all started work has ended. */
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
