import { setTimeout as delay } from 'node:timers/promises';

/** Urgent callers pass all others, always oldest first: newest first would starve the upkeep of the process and the end of work that has begun. */
interface Urgency {
  readonly urgent?: boolean;
}

interface Since {
  readonly waiter: Waiter<Urgency>;
  readonly sinceMs: number;
}

const monotonicClock = { now: () => new Date(performance.now()), sleep: async (ms: number) => delay(ms) };

/**
 * Makes the line before a resource, for example the connections of a driver's pool. Under overload the newest caller is next:
 * the clients of the oldest have timed out. It is overloaded while the oldest caller has waited for a quarter of the longest wait.
 * Before that the oldest is next, because newest first would refuse callers that a queue of ordinary length serves in time:
 * docs/decisions/store-calls.md#0034-a-gate-before-the-driver.
 * @param options.waitMs the longest wait
 * @param options.clock measures the waits; by default a monotonic one, because a stepped wall clock would keep callers
 * @param options.refused makes the error of a caller that has waited too long
 */
export function makeNewestFirst(options: {
  readonly waitMs: number;
  readonly clock?: { now(): Date; sleep(ms: number): Promise<void> };
  readonly refused: () => Error;
}): Line<Urgency> {
  const { waitMs, clock = monotonicClock, refused } = options;
  /** Both in order of arrival: the newest is at the end. */
  const [urgent, others]: [Since[], Since[]] = [[], []];
  let isExpiring = false;

  return {
    add: (waiter) => {
      const line = waiter.caller.urgent === true ? urgent : others;
      line.push({ waiter, sinceMs: nowMs() });
      if (!isExpiring) void expire();
    },
    next: () => (urgent.shift() ?? (isOverloaded() ? others.pop() : others.shift()))?.waiter,
    remove: (waiter) => {
      for (const line of [urgent, others]) {
        const at = line.findIndex((one) => one.waiter === waiter);
        if (at >= 0) line.splice(at, 1);
      }
    },
    size: () => urgent.length + others.length,
  };

  function nowMs(): number {
    return clock.now().getTime();
  }

  function isOverloaded(): boolean {
    const [oldest] = others;
    return oldest !== undefined && nowMs() - oldest.sinceMs >= waitMs / 4;
  }

  /** Refuses the oldest callers when their time is up. One timer serves all, because they are many. */
  async function expire(): Promise<void> {
    isExpiring = true;
    for (let oldest = oldestOf(); oldest !== undefined; oldest = oldestOf()) {
      const leftMs = oldest.sinceMs + waitMs - nowMs();
      if (leftMs > 0) await clock.sleep(leftMs);
      else oldest.waiter.refuse(refused());
    }
    isExpiring = false;
  }

  function oldestOf(): Since | undefined {
    const [[one], [other]] = [urgent, others];
    return one !== undefined && one.sinceMs <= (other?.sinceMs ?? Infinity) ? one : other;
  }
}

/** A bounded queue is full, or other writers were faster at every attempt. Nothing was done; the caller may retry. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/**
 * Lets a bounded number of callers work at once.
 * @typeParam Caller what the line of waiting callers wants to know of each
 */
export interface Semaphore<Caller = unknown> {
  /**
   * Runs the work with a permit, which stays taken until the work ends.
   * @throws the signal's reason when it aborts the wait, the refusal of the line, and the errors of the work
   */
  run<Result>(work: () => Promise<Result>, caller?: Waits<Caller>): Promise<Result>;
  /** Waits for a permit. @returns the release, to call once @throws as `run` */
  acquire(caller?: Waits<Caller>): Promise<() => void>;
  /** Callers that work, and that wait. */
  readonly running: () => number;
  readonly waiting: () => number;
}

type Waits<Caller> = Caller & { readonly signal?: AbortSignal };

/** A caller that waits for a permit. */
export interface Waiter<Caller = unknown> {
  readonly caller: Waits<Caller>;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** The order of the waiting callers. */
export interface Line<Caller = unknown> {
  /** @throws the refusal of a caller that may not wait */
  add(waiter: Waiter<Caller>): void;
  /** Takes the next caller out; undefined when none waits. */
  next(): Waiter<Caller> | undefined;
  /** Takes out a caller that leaves. */
  remove(waiter: Waiter<Caller>): void;
  readonly size: () => number;
}

/** @param permits callers that work at once @param line by default callers wait in call order */
export function makeSemaphore<Caller = unknown>(
  permits: number,
  line: Line<Caller> = makeLine(),
): Semaphore<Caller> {
  let running = 0;
  return {
    run: async (work, caller) => {
      if (!take(caller)) await wait(caller);
      try {
        return await work();
      } finally {
        release();
      }
    },
    acquire: async (caller) => {
      if (!take(caller)) await wait(caller);
      return release;
    },
    running: () => running,
    waiting: line.size,
  };

  function take(caller?: Waits<Caller>): boolean {
    caller?.signal?.throwIfAborted();
    if (running >= permits) return false;
    running += 1;
    return true;
  }

  function wait(caller: Waits<Caller> = {} as Waits<Caller>): Promise<void> {
    const { signal } = caller;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => waiter.refuse(signal?.reason as Error);
      const waiter: Waiter<Caller> = {
        caller,
        begin: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', onAbort);
          line.remove(waiter);
          reject(error);
        },
      };
      line.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Hands the permit directly to the next waiting caller, so that no later caller takes it. */
  function release(): void {
    const next = line.next();
    if (next === undefined) running -= 1;
    else next.begin();
  }
}

interface LineLimits {
  /** Callers that wait; one more is Overloaded. */
  readonly waitingMax: number;
  /** The longest wait, after which a caller is Overloaded; without it there is none. */
  readonly waitMs?: number | undefined;
}

/** Makes a line in call order. */
function makeLine<Caller>({ waitingMax, waitMs }: LineLimits = { waitingMax: Infinity }): Line<Caller> {
  // A Map iterates in insertion order.
  const waiting = new Map<Waiter<Caller>, NodeJS.Timeout | undefined>();
  const remove = (waiter: Waiter<Caller>): void => {
    clearTimeout(waiting.get(waiter));
    waiting.delete(waiter);
  };
  return {
    add: (waiter) => {
      if (waiting.size >= waitingMax) throw new Overloaded(`more than ${waitingMax} callers wait`);
      const late = () => waiter.refuse(new Overloaded(`a caller waited for ${waitMs} ms`));
      waiting.set(waiter, waitMs === undefined ? undefined : setTimeout(late, waitMs));
    },
    next: () => {
      const [next] = waiting.keys();
      if (next !== undefined) remove(next);
      return next;
    },
    remove,
    size: () => waiting.size,
  };
}

/**
 * Makes a semaphore for each key, whose callers wait in call order.
 * @param options.permits callers of a key that work at once
 */
export function makeKeyedSemaphore(options: LineLimits & { readonly permits: number }) {
  /** Only keys with callers have one, so old keys take no memory. */
  const semaphores = new Map<string, Semaphore>();
  return {
    /** Runs the work with a permit of the key. */
    run: <Result>(key: string, work: () => Promise<Result>): Promise<Result> =>
      semaphoreOf(key)
        .run(work)
        .finally(() => forgetUnused(key)),
    /** Waits for a permit of the key. @returns the release, to call once */
    acquire: async (key: string, signal?: AbortSignal): Promise<() => void> => {
      signal?.throwIfAborted();
      const release = await semaphoreOf(key).acquire(signal === undefined ? {} : { signal });
      return () => {
        release();
        forgetUnused(key);
      };
    },
  };

  function semaphoreOf(key: string): Semaphore {
    const semaphore = semaphores.get(key) ?? makeSemaphore(options.permits, makeLine(options));
    semaphores.set(key, semaphore);
    return semaphore;
  }

  function forgetUnused(key: string): void {
    if (semaphores.get(key)?.running() === 0) semaphores.delete(key);
  }
}

/**
 * Makes what runs the work of one key one after the other, in call order.
 * @param limits.waitingMax calls of one key that may run or wait; a further call throws Overloaded
 */
export function makeKeyedMutex({ waitingMax, waitMs }: LineLimits) {
  return makeKeyedSemaphore({ permits: 1, waitingMax: waitingMax - 1, waitMs }).run;
}
