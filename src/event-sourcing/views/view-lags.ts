import { Overloaded } from '../../kit/semaphore.js';

/** For how long events have waited for the views of this process. */
export interface ViewLags {
  /**
   * Lets a limit that is judged on views miss at most what other processes added in the last 15 s.
   * @throws Overloaded while one of the views is further behind the log
   */
  requireFresh(...views: readonly string[]): void;
  /** Takes the lags, in milliseconds and by the name of the view, from the runner of the views. Until then there are none. */
  follow(runner: { lagsMs(): ReadonlyMap<string, number> }): void;
}

const staleAfterMs = 15_000;

export function makeViewLags(): ViewLags {
  let lagsMs = (): ReadonlyMap<string, number> => new Map();
  return {
    requireFresh: (...views) => {
      const lags = lagsMs();
      const stale = views.find((view) => (lags.get(view) ?? 0) > staleAfterMs);
      if (stale === undefined) return;
      throw new Overloaded(`nothing is added while the view ${stale} is more than 15 s behind the log`);
    },
    follow: (runner) => {
      lagsMs = () => runner.lagsMs();
    },
  };
}
