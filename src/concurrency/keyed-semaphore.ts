import { Overloaded } from './overloaded.js';
import { makeSemaphore, type Semaphore } from './semaphore.js';

/** Lets a bounded number of callers of each key work at once. Waiting callers of a key are served in call order. */
export interface KeyedSemaphore {
  /**
   * Waits for a permit of the key.
   * @param leave returns the signal that ends the wait; called only for a caller that may wait
   * @returns the release, to call once
   * @throws Overloaded when too many callers of the key wait; the signal's reason when it aborts the wait
   */
  acquire(key: string, leave?: () => AbortSignal): Promise<() => void>;
}

interface Line {
  readonly semaphore: Semaphore;
  /** Callers that work and that wait. */
  callers: number;
}

/**
 * @param options.permits callers of a key that work at once
 * @param options.waitingMax callers of a key that wait
 */
export function makeKeyedSemaphore({
  permits,
  waitingMax,
}: {
  readonly permits: number;
  readonly waitingMax: number;
}): KeyedSemaphore {
  /** Only keys with callers have a line, so old keys take no memory. */
  const lines = new Map<string, Line>();

  return {
    acquire: async (key, leave) => {
      const line = lines.get(key) ?? { semaphore: makeSemaphore(permits), callers: 0 };
      if (line.callers >= permits + waitingMax) {
        throw new Overloaded(`more than ${waitingMax} callers of one key wait`);
      }
      lines.set(key, line);
      line.callers += 1;
      try {
        const release = await line.semaphore.acquire(line.callers > permits ? leave?.() : undefined);
        return () => {
          release();
          forget(key, line);
        };
      } catch (error) {
        forget(key, line);
        throw error;
      }
    },
  };

  function forget(key: string, line: Line): void {
    line.callers -= 1;
    if (line.callers === 0) lines.delete(key);
  }
}
