import { Overloaded } from './overloaded.js';
import { makeSemaphore, type Semaphore } from './semaphore.js';

/** Lets a bounded number of callers of each key work at once. Waiting callers of a key are served in call order. */
export interface KeyedSemaphore {
  /**
   * Takes a permit of the key. It makes a promise only for a caller that waits, because most requests find a free permit.
   * @param leave returns the signal that ends the wait; called only for a caller that waits
   * @returns the release, to call once
   * @throws Overloaded at once when too many callers of the key wait; the promise rejects with the signal's reason when it
   * aborts the wait
   */
  acquire(key: string, leave?: () => AbortSignal): (() => void) | Promise<() => void>;
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
    acquire: (key, leave) => {
      const line = lines.get(key) ?? { semaphore: makeSemaphore(permits), callers: 0 };
      if (line.callers >= permits + waitingMax) {
        throw new Overloaded(`more than ${waitingMax} callers of one key wait`);
      }
      lines.set(key, line);
      line.callers += 1;
      const free = line.semaphore.tryAcquire();
      return free === null ? waited(key, line, leave?.()) : releaseOf(key, line, free);
    },
  };

  async function waited(key: string, line: Line, signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return releaseOf(key, line, await line.semaphore.acquire(signal));
    } catch (error) {
      forget(key, line);
      throw error;
    }
  }

  function releaseOf(key: string, line: Line, release: () => void): () => void {
    return () => {
      release();
      forget(key, line);
    };
  }

  function forget(key: string, line: Line): void {
    line.callers -= 1;
    if (line.callers === 0) lines.delete(key);
  }
}
