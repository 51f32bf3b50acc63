import { Tinypool } from 'tinypool';
import { Overloaded } from '../../kit/overloaded.js';
import { packageFile } from '../../package-files.js';
import { guessing } from '../guessing/guessing.js';
import { makeHashQueue, type Priority } from './hash-queue.js';
import type { HashReply, HashRequest } from './hash-worker.js';
import { chooseScrypt, type ScryptInput } from './scrypt.js';
import type { ThreadPriority } from './thread-priority.js';

/** Hashes in separate threads. In libuv's pool, four hashes would delay every fsync and look-up for seconds. */
export interface HashPool {
  /**
   * @param priority `normal` when left out
   * @throws Overloaded when the queue is full, or when the hash would not end in time
   */
  hash(input: ScryptInput, priority?: Priority): Promise<Buffer>;
  /** Returns whether `hash` accepts one now. Call it before a write that precedes the hash. */
  hasRoom(): boolean;
  /** Ends the threads, and refuses waiting hashes. */
  close(): Promise<void>;
}

/** A pool that tells its load, for metrics. */
export interface MeasuredHashPool extends HashPool {
  /** Returns how many hashes run, and how many wait for a thread. */
  load(): { readonly running: number; readonly waiting: number };
}

interface HashPoolOptions {
  readonly threads?: number;
  readonly queue?: number;
  readonly timeLimitMs?: number;
  /** How far the threads yield to the rest of the machine; 0 when left out. */
  readonly nice?: number;
  /** Receives once, with the first hash, whether the threads have a lower priority than the rest of the process. */
  readonly onPriority?: (priority: ThreadPriority) => void;
}

/** Threads start with the first hash and end after an idle minute. @param options by default those of `guessing` */
export function makeHashPool(options: HashPoolOptions = {}): MeasuredHashPool {
  const { threads, queue, timeLimitMs, nice = 0 } = { ...guessing.password.pool, ...options };
  let onPriority = options.onPriority;
  // A wrong scrypt must stop the start, not the first registration.
  chooseScrypt();
  const pool = new Tinypool({
    filename: packageFile('dist/hash-worker.js').href,
    name: 'hash',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 60_000,
  });
  // The queue of Tinypool has no priorities, and takes what cannot end in time.
  const hashes = makeHashQueue<ScryptInput, Buffer>({
    threads,
    queue,
    timeLimitMs,
    nowMs: () => performance.now(),
    work: async (input) => {
      const reply = await onThread({ input, nice });
      if ('failed' in reply) throw new Error(`scrypt failed: ${reply.failed}`);
      onPriority?.(reply.priority);
      onPriority = undefined;
      return { output: Buffer.from(reply.output), tookMs: reply.tookMs };
    },
  });

  return {
    hash: (input, priority = 'normal') => hashes.run(input, priority),
    hasRoom: () => hashes.hasRoom(),
    load: () => hashes.load(),
    close: async () => {
      hashes.close();
      await pool.destroy();
    },
  };

  /** Runs a hash, twice if its thread has ended meanwhile. Without the error, which could contain the input. */
  async function onThread(request: HashRequest): Promise<HashReply> {
    const run = () => pool.run(request) as Promise<HashReply>;
    return run()
      .catch(run)
      .catch(() => {
        throw new Overloaded('the thread that checked a password ended');
      });
  }
}
