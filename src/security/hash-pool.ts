import { Tinypool } from 'tinypool';
import { z } from 'zod';
import { Overloaded } from '../event-sourcing/errors.js';
import { makeTurns, type Patience } from './hash-turns.js';
import { chooseScrypt } from './scrypt.js';
import type { ScryptInput } from './scrypt.js';

/**
 * Password hashes in threads of their own: in libuv's pool four of them would hold up every fsync and look-up of the
 * process for seconds.
 */
export interface HashPool {
  /**
   * @param patience `eager` when left out
   * @throws Overloaded when the queue is full, or the result is not there within the time limit
   */
  hash(input: ScryptInput, patience?: Patience): Promise<Buffer>;
  /** Whether `hash` would take one now: who writes something first asks first. */
  hasRoom(): boolean;
  /** Ends the threads; what is waiting is refused. */
  close(): Promise<void>;
}

const outputSchema = z.instanceof(Uint8Array);

/**
 * Threads start with the first hash and end after a minute without any.
 * @param threads hashes computed at once; 2 when left out
 * @param queue hashes that may wait beyond those; 32 when left out
 * @param timeLimitMs for waiting and computing; 8,000 when left out
 */
export function makeHashPool({
  threads = 2,
  queue = 32,
  timeLimitMs = 8_000,
}: { readonly threads?: number; readonly queue?: number; readonly timeLimitMs?: number } = {}): HashPool {
  // A wrong scrypt must stop the start, not the first registration.
  chooseScrypt();
  const pool = new Tinypool({
    filename: new URL('./hash-worker.js', import.meta.url).href,
    name: 'hash',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 60_000,
  });
  // Beside the pool's own queue, which knows no precedence: it never gets more than its threads take.
  const turns = makeTurns(threads);
  let accepted = 0;
  let closed = false;

  return {
    hash: async (input, patience = 'eager') => {
      if (!hasRoom()) throw new Overloaded('too many passwords are being checked');
      accepted += 1;
      const limit = AbortSignal.timeout(timeLimitMs);
      try {
        const end = await turns.take(patience, limit);
        try {
          return Buffer.from(outputSchema.parse(await run(input, limit)));
        } finally {
          end();
        }
      } catch (error) {
        // The cause stays out: it could name what was hashed.
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

  /** A hash whose time is up ends its thread, which may have been handed this one a moment before: another thread takes it. */
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
