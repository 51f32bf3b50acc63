import { Overloaded } from '../../kit/overloaded.js';

/** Where a piece of work waits: the lanes in order, and in a lane the clients in turn. */
export interface HashPlace {
  readonly lane: 0 | 1 | 2;
  readonly client: string;
}

export interface HashQueue<Input, Output> {
  /** @throws Overloaded at once when it could not end in time, or later when its turn comes too late; errors of the work */
  run(input: Input, place: HashPlace): Promise<Output>;
  /** Returns whether `run` accepts one now. */
  hasRoom(place: HashPlace): boolean;
  /** Returns how many pieces of work run and wait. */
  load(): { readonly running: number; readonly waiting: number };
  /** Refuses what waits and what comes. */
  close(): void;
}

interface Waiting extends HashPlace {
  /** The turns of the clients of a lane: each has one in a round. */
  readonly round: number;
  readonly acceptedMs: number;
  readonly begin: () => void;
  readonly refuse: (message: string) => void;
}

/** A measured duration moves the estimate by this part. */
const estimateStep = 0.2;

/**
 * Runs work on a number of threads: a lane waits for those before it, and in a lane each client has one turn before any has a
 * second. Under overload it refuses what would not end within the limit: the newcomer, or the last in that order where the
 * newcomer is before it. So all threads work on what still counts, and no client crowds out others. It ends no work that it began:
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
}): HashQueue<Input, Output> {
  const { threads, queue, timeLimitMs, nowMs, work } = options;
  /** In the order of their turns. */
  let waiting: readonly Waiting[] = [];
  /** The present round of each lane. */
  const rounds = [0, 0, 0];
  let underWay = 0;
  let isClosed = false;
  /** The estimated duration of one piece of work. Nothing is known before the first one. */
  let workMs = 0;

  return {
    run: async (input, place) => {
      if (!hasRoom(place)) throw new Overloaded(full);
      if (underWay >= threads) await waitForTurn(place);
      else underWay += 1;
      return workOn(input);
    },
    hasRoom,
    load: () => ({ running: underWay, waiting: waiting.length }),
    close: () => {
      isClosed = true;
      for (const one of waiting) one.refuse('the service ends');
    },
  };

  /** Returns whether one more would end in time. An idle thread always takes work, or a slow machine would do none. */
  function hasRoom(place: HashPlace): boolean {
    if (isClosed) return false;
    if (underWay < threads) return true;
    const { before } = turnOf(place);
    const rounds = Math.floor((underWay + before) / threads) + 1;
    return before < queue && rounds * workMs <= timeLimitMs;
  }

  /** Returns the round of one more of the client, and how many have their turn before it. */
  function turnOf({ lane, client }: HashPlace): { readonly round: number; readonly before: number } {
    const last = waiting.findLast((one) => one.lane === lane && one.client === client);
    const round = last === undefined ? (rounds[lane] ?? 0) : last.round + 1;
    const next = waiting.findIndex((one) => one.lane > lane || (one.lane === lane && one.round > round));
    return { round, before: next === -1 ? waiting.length : next };
  }

  /** Waits for a thread, which the ending work hands over. */
  function waitForTurn(place: HashPlace): Promise<void> {
    return new Promise((resolve, reject) => {
      const { round, before } = turnOf(place);
      const leave = (): void => {
        clearTimeout(limit);
        waiting = waiting.filter((each) => each !== one);
      };
      const one: Waiting = {
        ...place,
        round,
        acceptedMs: nowMs(),
        begin: () => {
          leave();
          rounds[place.lane] = round;
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
      waiting = waiting.toSpliced(before, 0, one);
      if (waiting.length > queue) waiting.at(-1)?.refuse(full);
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
    for (const one of waiting) {
      if (one.acceptedMs < latestMs) {
        one.refuse(tooLate);
        continue;
      }
      one.begin();
      return;
    }
    underWay -= 1;
  }
}

const tooLate = 'a password check took too long';
const full = 'too many passwords are being checked';
