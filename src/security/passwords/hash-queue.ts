import { Overloaded } from '../../kit/overloaded.js';

/** A `low` hash waits while a `normal` one waits. Hashes of one priority are served in call order. */
export type Priority = 'normal' | 'low';

export interface HashQueue<Input, Output> {
  /** @throws Overloaded at once when it could not end in time, or later when its turn comes too late; errors of the work */
  run(input: Input, priority: Priority): Promise<Output>;
  /** Returns whether `run` accepts one now. */
  hasRoom(): boolean;
  /** Returns how many pieces of work run and wait. */
  load(): { readonly running: number; readonly waiting: number };
  /** Refuses what waits and what comes. */
  close(): void;
}

interface Waiting {
  readonly acceptedMs: number;
  readonly begin: () => void;
  readonly refuse: (message: string) => void;
}

/** A measured duration moves the estimate by this part. */
const estimateStep = 0.2;

/**
 * Runs work on a number of threads, in order of arrival, `low` after `normal`. Under overload it refuses at once what
 * would not end within the limit, so that all threads work on what still counts. It ends no work that it began: the next
 * one would wait for a new thread, and the time spent would be lost (docs/decisions/0045-load-that-a-process-refuses.md).
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
}): HashQueue<Input, Output> {
  const { threads, queue, timeLimitMs, nowMs, work } = options;
  const waiting: Readonly<Record<Priority, Set<Waiting>>> = { normal: new Set(), low: new Set() };
  let underWay = 0;
  let isClosed = false;
  /** The estimated duration of one piece of work. Nothing is known before the first one. */
  let workMs = 0;

  return {
    run: async (input, priority) => {
      if (!hasRoom()) throw new Overloaded('too many passwords are being checked');
      if (underWay >= threads) await turn(priority);
      else underWay += 1;
      return workOn(input);
    },
    hasRoom,
    load: () => ({ running: underWay, waiting: waiting.normal.size + waiting.low.size }),
    close: () => {
      isClosed = true;
      for (const one of inOrder()) one.refuse('the service ends');
    },
  };

  /** Returns whether one more would end in time. An idle thread always takes work, or a slow machine would do none. */
  function hasRoom(): boolean {
    if (isClosed) return false;
    if (underWay < threads) return true;
    const before = waiting.normal.size + waiting.low.size;
    const rounds = Math.floor((underWay + before) / threads) + 1;
    return before < queue && rounds * workMs <= timeLimitMs;
  }

  /** Waits for a thread, which the ending work hands over. */
  function turn(priority: Priority): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(limit);
        waiting[priority].delete(one);
      };
      const one: Waiting = {
        acceptedMs: nowMs(),
        begin: () => {
          leave();
          resolve();
        },
        refuse: (message) => {
          leave();
          reject(new Overloaded(message));
        },
      };
      const limit = setTimeout(() => {
        one.refuse(tooLate);
      }, timeLimitMs);
      waiting[priority].add(one);
    });
  }

  async function workOn(input: Input): Promise<Output> {
    try {
      const { output, tookMs } = await work(input);
      workMs = workMs === 0 ? tookMs : workMs + (tookMs - workMs) * estimateStep;
      return output;
    } finally {
      handOver();
    }
  }

  function handOver(): void {
    const latestMs = nowMs() + workMs - timeLimitMs;
    for (const one of inOrder()) {
      if (one.acceptedMs < latestMs) {
        one.refuse(tooLate);
        continue;
      }
      one.begin();
      return;
    }
    underWay -= 1;
  }

  function inOrder(): readonly Waiting[] {
    return [...waiting.normal, ...waiting.low];
  }
}

const tooLate = 'a password check took too long';
