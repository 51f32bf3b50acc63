import { Tinypool } from 'tinypool';
import { z } from 'zod';
import { Overloaded } from '../concurrency/overloaded.js';
import { makeSemaphore, type Priority } from '../concurrency/semaphore.js';
import { guessing } from './guessing.js';
import { chooseScrypt, type ScryptInput } from './scrypt.js';

/** Hashes in separate threads. In libuv's pool, four hashes would delay every fsync and look-up for seconds. */
export interface HashPool {
  /**
   * @param priority `normal` when left out
   * @throws Overloaded when the queue is full, or at the time limit
   */
  hash(input: ScryptInput, priority?: Priority): Promise<Buffer>;
  /** Returns whether `hash` accepts one now. Call it before a write that precedes the hash. */
  hasRoom(): boolean;
  /** Ends the threads, and refuses waiting hashes. */
  close(): Promise<void>;
}

const outputSchema = z.instanceof(Uint8Array);

/** Threads start with the first hash and end after an idle minute. @param options by default those of `guessing` */
export function makeHashPool(
  options: { readonly threads?: number; readonly queue?: number; readonly timeLimitMs?: number } = {},
): HashPool {
  const { threads, queue, timeLimitMs } = { ...guessing.password.pool, ...options };
  // A wrong scrypt must stop the start, not the first registration.
  chooseScrypt();
  const pool = new Tinypool({
    filename: new URL('./hash-worker.js', import.meta.url).href,
    name: 'hash',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 60_000,
  });
  // The queue of Tinypool has no priorities: the semaphore gives it no more than its threads take.
  const semaphore = makeSemaphore(threads);
  let accepted = 0;
  let closed = false;

  return {
    hash: async (input, priority = 'normal') => {
      if (!hasRoom()) throw new Overloaded('too many passwords are being checked');
      accepted += 1;
      const limit = AbortSignal.timeout(timeLimitMs);
      try {
        const output = await semaphore.run(() => run(input, limit), { priority, signal: limit });
        return Buffer.from(outputSchema.parse(output));
      } catch (error) {
        // Without the cause, which could contain the input.
        if (limit.aborted || isClosed()) throw new Overloaded('a password check took too long');
        throw error;
      } finally {
        accepted -= 1;
      }
    },
    hasRoom,
    close: async () => {
      closed = true;
      await pool.destroy();
    },
  };

  /** Runs a hash, twice if needed: a hash at its time limit ends its thread, which may have just received this one. */
  async function run(input: ScryptInput, limit: AbortSignal): Promise<unknown> {
    try {
      return await pool.run(input, { signal: limit });
    } catch (error) {
      if (limit.aborted || isClosed()) throw error;
      return pool.run(input, { signal: limit });
    }
  }

  function hasRoom(): boolean {
    return !closed && accepted < threads + queue;
  }

  function isClosed(): boolean {
    return closed;
  }
}
