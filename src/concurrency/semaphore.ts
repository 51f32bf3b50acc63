/** A `low` caller waits while a `normal` one waits. Callers of one priority are served in call order. */
export type Priority = 'normal' | 'low';

export interface AcquireOptions {
  /** `normal` when left out. */
  readonly priority?: Priority;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** Lets a bounded number of callers work at once. */
export interface Semaphore {
  /** Waits for a permit. @returns the release, to call once @throws the signal's reason when it aborts the wait */
  acquire(options?: AcquireOptions): Promise<() => void>;
  /** Runs the work with a permit. @throws as `acquire`, and the errors of the work */
  run<Result>(work: () => Promise<Result>, options?: AcquireOptions): Promise<Result>;
}

/** @param permits callers that work at once */
export function makeSemaphore(permits: number): Semaphore {
  // A Set iterates in insertion order.
  const waiting = { normal: new Set<() => void>(), low: new Set<() => void>() };
  let taken = 0;
  return {
    acquire,
    run: async (work, options) => {
      const release = await acquire(options);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };

  async function acquire({ priority = 'normal', signal }: AcquireOptions = {}): Promise<() => void> {
    signal?.throwIfAborted();
    if (taken < permits) {
      taken += 1;
      return release;
    }
    const queue = waiting[priority];
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        queue.delete(begin);
        reject(signal?.reason as Error);
      };
      queue.add(begin);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    return release;
  }

  /** Hands the permit directly to the next waiting caller, so that no later caller takes it. */
  function release(): void {
    for (const queue of [waiting.normal, waiting.low]) {
      const [next] = queue;
      if (next === undefined) continue;
      queue.delete(next);
      next();
      return;
    }
    taken -= 1;
  }
}
