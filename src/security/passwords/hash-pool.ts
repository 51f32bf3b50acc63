import { availableParallelism } from 'node:os';
import { Tinypool } from 'tinypool';
import { type Line, Overloaded, type Waiter, makeSemaphore } from '../../kit/semaphore.js';
import { packageFile } from '../../package-files.js';
import { guessing } from '../guessing/guessing.js';
import type { TryingClient } from '../guessing/guard.js';
import { ipBuckets } from '../rates/client-ip.js';
import { makeRateLimiter } from '../rates/rate-limit.js';
import type { HashReply } from './hash-worker.js';
import { type ScryptInput, chooseScrypt } from './scrypt.js';

/** Where a piece of work waits: the lanes in order, and in a lane the clients in turn. */
export type HashCaller = { readonly lane: 0 | 1 | 2; readonly client: string };

interface Waiting extends HashCaller {
  readonly waiter: Waiter<HashCaller>;
  /** The turns of the clients of a lane: each has one in a round. */
  readonly round: number;
  readonly acceptedMs: number;
  readonly limit: NodeJS.Timeout;
}

/** A measured duration moves the estimate by this part. */
const estimateStep = 0.2;

/**
 * Runs work on a number of threads: a lane waits for those before it, and in a lane each client has one turn before any has a
 * second. Under overload it refuses what would not end within the limit: the newcomer, or the last in that order where the
 * newcomer is before it. So no client crowds out others. It cancels no hash that it began:
 * the next one would wait for a new thread, and the time spent would be lost
 * (docs/decisions/limits-and-load.md#0045-load-is-refused-early).
 * @param options.queue the most that waits
 * @param options.timeLimitMs for waiting and work
 * @param options.nowMs a clock that is never set back
 */
export function makeHashQueue<Input, Output>(options: {
  readonly threads: number;
  readonly queue: number;
  readonly timeLimitMs: number;
  readonly nowMs: () => number;
  /** Does the work, and tells its duration without the time that a thread needs to start. */
  readonly work: (input: Input) => Promise<{ readonly output: Output; readonly tookMs: number }>;
}) {
  const { threads, queue, timeLimitMs, nowMs, work } = options;
  /** In the order of their turns. */
  let waiting: readonly Waiting[] = [];
  /** The present round of each lane. */
  const rounds = [0, 0, 0];
  let isClosed = false;
  /** The estimated duration of one piece of work. Nothing is known before the first one. */
  let workMs = 0;
  const line: Line<HashCaller> = { add, next, remove, size: () => waiting.length };
  const semaphore = makeSemaphore(threads, line);
  return {
    /** @throws Overloaded at once when it could not end in time, or later when its turn comes too late; errors of the work */
    run: async (input: Input, caller: HashCaller): Promise<Output> => {
      if (!hasRoom(caller)) throw new Overloaded(full);
      return semaphore.run(() => workOn(input), caller);
    },
    /** Returns whether `run` accepts one now. */
    hasRoom,
    /** Returns how many pieces of work run and wait. */
    load: () => ({ running: semaphore.running(), waiting: waiting.length }),
    /** Refuses what waits and what comes. */
    close: () => {
      isClosed = true;
      for (const { waiter } of waiting) waiter.refuse(new Overloaded('the service ends'));
    },
  };

  /** Returns whether one more would end in time. An idle thread always takes work, or a slow machine would do none. */
  function hasRoom(caller: HashCaller): boolean {
    if (isClosed) return false;
    if (semaphore.running() < threads) return true;
    const { before } = turnOf(caller);
    const rounds = Math.floor((threads + before) / threads) + 1;
    return before < queue && rounds * workMs <= timeLimitMs;
  }

  /** Returns the round of one more of the client, and how many have their turn before it. */
  function turnOf({ lane, client }: HashCaller): { readonly round: number; readonly before: number } {
    const last = waiting.findLast((one) => one.lane === lane && one.client === client);
    const round = last === undefined ? (rounds[lane] ?? 0) : last.round + 1;
    const next = waiting.findIndex((one) => one.lane > lane || (one.lane === lane && one.round > round));
    return { round, before: next === -1 ? waiting.length : next };
  }

  function add(waiter: Waiter<HashCaller>): void {
    const { lane, client } = waiter.caller;
    const { round, before } = turnOf(waiter.caller);
    const limit = setTimeout(() => waiter.refuse(new Overloaded(tooLate)), timeLimitMs);
    waiting = waiting.toSpliced(before, 0, { waiter, lane, client, round, acceptedMs: nowMs(), limit });
    if (waiting.length > queue) waiting.at(-1)?.waiter.refuse(new Overloaded(full));
  }

  function remove(waiter: Waiter<HashCaller>): void {
    clearTimeout(waiting.find((one) => one.waiter === waiter)?.limit);
    waiting = waiting.filter((one) => one.waiter !== waiter);
  }

  function next(): Waiter<HashCaller> | undefined {
    const latestMs = nowMs() + workMs - timeLimitMs;
    for (const { waiter, acceptedMs, lane, round } of waiting) {
      if (acceptedMs < latestMs) {
        waiter.refuse(new Overloaded(tooLate));
        continue;
      }
      remove(waiter);
      rounds[lane] = round;
      return waiter;
    }
    return undefined;
  }

  async function workOn(input: Input): Promise<Output> {
    const { output, tookMs } = await work(input);
    workMs = workMs === 0 ? tookMs : workMs + (tookMs - workMs) * estimateStep;
    return output;
  }
}

const tooLate = 'a password check took too long';
const full = 'too many passwords are being checked';

/** A pool that tells its load, for metrics. */
export type MeasuredHashPool = ReturnType<typeof makeHashPool>;
export type HashPool = Omit<MeasuredHashPool, 'load'>;

type HashPoolOptions = Partial<Readonly<Record<'threads' | 'queue' | 'timeLimitMs', number>>>;

/** One core is left to the thread that serves requests. */
const threadsDefault = Math.min(2, Math.max(1, availableParallelism() - 1));

/**
 * With more hashes than this, the known clients of a subject wait beside clients that are not known, and the clients of a network
 * behind all others. So no account keeps strangers from their first sign-in, and strangers never keep an owner.
 */
const few = { limit: 5, seconds: 60 };

const nowMs = () => performance.now();

/**
 * Hashes in separate threads. In libuv's pool, four hashes would delay every fsync and look-up for seconds. Three lanes wait:
 * clients that are known, then those with few recent hashes and the known ones with many, then the rest, among them those of no client (src/security/README.md#passwords). Threads start
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
  // Without a listener the error of a thread without work would end the process.
  pool.on('error', () => undefined);
  const recent = makeRateLimiter({ clock: { steadyMs: nowMs }, limits: { few } });
  // The queue of Tinypool has no lanes, and takes what cannot end in time.
  const hashes = makeHashQueue<ScryptInput, Buffer>({
    threads,
    queue,
    timeLimitMs,
    nowMs,
    work: async (input) => {
      const run = async (): Promise<HashReply> => {
        // A thread that cannot start has no work yet: its error reaches the pool alone, and the work would wait for ever.
        const unserved = new AbortController();
        const end = (): void => unserved.abort();
        pool.once('error', end);
        try {
          return (await pool.run(input, { signal: unserved.signal })) as HashReply;
        } finally {
          pool.off('error', end);
        }
      };
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
      hashes.run(input, callerOf(by, 'check')),
    /** Returns whether `hash` accepts one now. Call it before a write that precedes the hash. */
    hasRoom: (by: TryingClient | null = null): boolean => hashes.hasRoom(callerOf(by, 'probe')),
    /** Returns how many hashes run, and how many wait for a thread. */
    load: () => hashes.load(),
    /** Ends the threads, and refuses waiting hashes. */
    close: async (): Promise<void> => {
      hashes.close();
      await pool.destroy();
    },
  };

  /** @param how whether the hash counts as a recent one */
  function callerOf(by: TryingClient | null, how: 'check' | 'probe'): HashCaller {
    if (by === null) return { lane: 2, client: '' };
    const { ip, known } = by;
    const buckets = known === null ? ipBuckets(ip) : [{ key: known.of, factor: 1 }];
    const client = buckets[0]?.key ?? ip;
    const isFew = recent[how]('few', buckets).allowed;
    if (known !== null) return { lane: isFew ? 0 : 1, client };
    return { lane: isFew ? 1 : 2, client };
  }
}
