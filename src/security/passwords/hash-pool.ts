import { availableParallelism } from 'node:os';
import { Tinypool } from 'tinypool';
import { Overloaded } from '../../kit/semaphore.js';
import { packageFile } from '../../package-files.js';
import { guessing } from '../guessing/guessing.js';
import type { TryingClient } from '../guessing/guard.js';
import { ipBuckets } from '../rates/client-ip.js';
import { makeRateLimiter } from '../rates/rate-limit.js';
import { makeHashQueue, type HashPlace } from './hash-queue.js';
import type { HashReply } from './hash-worker.js';
import { chooseScrypt, type ScryptInput } from './scrypt.js';

/** A pool that tells its load, for metrics. */
export type MeasuredHashPool = ReturnType<typeof makeHashPool>;
export type HashPool = Omit<MeasuredHashPool, 'load'>;

type HashPoolOptions = Partial<Readonly<Record<'threads' | 'queue' | 'timeLimitMs', number>>>;

/** One core is left to the thread that serves requests. */
const threadsDefault = Math.min(2, Math.max(1, availableParallelism() - 1));

/** Known clients of one subject, and clients of one network, with more hashes than this wait behind all others. */
const few = { limit: 5, seconds: 60 };

const nowMs = () => performance.now();

/**
 * Hashes in separate threads. In libuv's pool, four hashes would delay every fsync and look-up for seconds. Three lanes wait:
 * clients that are known, then those with few recent hashes, then the rest, among them those of no client (src/security/README.md#passwords). Threads start
 * with the first hash and end after an idle minute.
 * @param options by default those of `guessing`
 */
export function makeHashPool(options: HashPoolOptions = {}) {
  const { threads = threadsDefault, queue, timeLimitMs } = { ...guessing.password.pool, ...options };
  // A wrong scrypt must stop the start, not the first registration.
  chooseScrypt();
  const pool = new Tinypool({
    filename: packageFile('dist/hash-worker.js').href,
    name: 'hash',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 60_000,
  });
  const recent = makeRateLimiter({ clock: { now: () => new Date(), steadyMs: nowMs }, limits: { few } });
  // The queue of Tinypool has no lanes, and takes what cannot end in time.
  const hashes = makeHashQueue<ScryptInput, Buffer>({
    threads,
    queue,
    timeLimitMs,
    nowMs,
    work: async (input) => {
      const run = () => pool.run(input) as Promise<HashReply>;
      // Twice if the thread has ended meanwhile. Without the error, which could contain the input.
      const reply = await run()
        .catch(run)
        .catch(() => {
          throw new Overloaded('the thread that checked a password ended');
        });
      if ('failed' in reply) throw new Error(`scrypt failed: ${reply.failed}`);
      return { output: Buffer.from(reply.output), tookMs: reply.tookMs };
    },
  });

  return {
    /** @throws Overloaded when the queue is full, or when the hash would not end in time */
    hash: (input: ScryptInput, by: TryingClient | null = null): Promise<Buffer> =>
      hashes.run(input, placeOf(by, 'check')),
    /** Returns whether `hash` accepts one now. Call it before a write that precedes the hash. */
    hasRoom: (by: TryingClient | null = null): boolean => hashes.hasRoom(placeOf(by, 'probe')),
    /** Returns how many hashes run, and how many wait for a thread. */
    load: () => hashes.load(),
    /** Ends the threads, and refuses waiting hashes. */
    close: async (): Promise<void> => {
      hashes.close();
      await pool.destroy();
    },
  };

  /** @param how whether the hash counts as a recent one */
  function placeOf(by: TryingClient | null, how: 'check' | 'probe'): HashPlace {
    if (by === null) return { lane: 2, client: '' };
    const { ip, known } = by;
    const buckets = known === null ? ipBuckets(ip) : [{ key: known.of, factor: 1 }];
    const client = buckets[0]?.key ?? ip;
    if (!recent[how]('few', buckets).allowed) return { lane: 2, client };
    return { lane: known === null ? 1 : 0, client };
  }
}
