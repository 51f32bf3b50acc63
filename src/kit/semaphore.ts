/** Lets a bounded number of callers work at once. Waiting callers are served in call order. */
export interface Semaphore {
  /** Waits for a permit. @returns the release, to call once @throws the signal's reason when it aborts the wait */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** Takes a permit that is free now. @returns the release, to call once; null when none is free */
  tryAcquire(): (() => void) | null;
  /** Runs the work with a permit. @throws as `acquire`, and the errors of the work */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** @param permits callers that work at once */
export function makeSemaphore(permits: number): Semaphore {
  // A Set iterates in insertion order.
  const waiting = new Set<() => void>();
  let taken = 0;
  return {
    acquire,
    tryAcquire,
    run: async (work, signal) => {
      const release = await acquire(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };

  async function acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const free = tryAcquire();
    if (free !== null) return free;
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        waiting.delete(begin);
        reject(signal?.reason as Error);
      };
      waiting.add(begin);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    return release;
  }

  function tryAcquire(): (() => void) | null {
    if (taken >= permits) return null;
    taken += 1;
    return release;
  }

  /** Hands the permit directly to the next waiting caller, so that no later caller takes it. */
  function release(): void {
    const [next] = waiting;
    if (next === undefined) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }
}
