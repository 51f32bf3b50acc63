import { setTimeout } from 'node:timers/promises';
import type { SteadyClock } from '../../../../kit/time/clock.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { makeLru } from '../../../../kit/lru.js';
import { type Pace, processPace } from '../../../../kit/read-in-turns.js';

interface Waiting {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly begin: () => Promise<void>;
  readonly refuse: (error: Error) => void;
}

/** Clients whose refused work is counted. */
const clientsMax = 10_000;
/** The refused work of a client halves in this time, in ms. */
const halfLifeMs = 60_000;
/** What the check of a signature costs beside its bytes, in bytes. */
const signatureBytes = 4_096;
/** Refused work, in bytes, below which a client is one of the others: some 20 minutes after a few wrong signatures. */
const forgottenBytes = 1;
/**
 * Before each callback of a client with failed signatures, in ms. Bodies of 256 KiB without a pause between them make V8 collect
 * garbage all the time ("external memory pressure"), 10 to 50 ms each, in which the process answers no request.
 */
const pauseMs = 20;
/** A request is refused after this time (src/http/access/README.md#limit-of-a-request), so its callback need not be verified. */
const waitMs = 15_000;

/**
 * The order in which callbacks are verified. Those of a client without refused work are verified at once. The others wait
 * behind them, and among themselves behind those of clients with less refused work. They are verified one at a time, because
 * the queue that fetches PayPal's certificates is short, and theirs would leave no room in it.
 */
export function makeCallbackTurns(deps: {
  readonly clock: SteadyClock;
  readonly pace?: Pace;
  readonly pause?: () => Promise<void>;
}) {
  const { clock, pace = processPace, pause = () => setTimeout(pauseMs) } = deps;
  const work = makeLru<{ readonly bytes: number; readonly atMs: number }>(clientsMax);
  /** By client, so that one with many connections gets no more turns. */
  const waiting = new Map<string, Waiting[]>();
  let isServing = false;

  return {
    /**
     * Verifies a callback in its turn. @param client a client address, or the network of one
     * @throws StoreUnavailable where the turn comes too late, and the errors of the work
     */
    take: async <Result>(client: string, bytes: number, work: () => Promise<Result>): Promise<Result> => {
      if (workOf(client) < forgottenBytes) {
        await pace.spend({ bytes, elements: 1 });
        return work();
      }
      return new Promise<Result>((resolve, reject) => {
        const own = waiting.get(client) ?? [];
        const begin = () => work().then(resolve, reject);
        own.push({ bytes, sinceMs: clock.steadyMs(), begin, refuse: reject });
        waiting.set(client, own);
        if (!isServing) void serve();
      });
    },
    /** Counts the work of a callback whose signature does not hold, or cannot be verified now. */
    refused: (client: string, bytes: number) => {
      work.set(client, { bytes: workOf(client) + bytes + signatureBytes, atMs: clock.steadyMs() });
    },
  };

  function workOf(client: string): number {
    const found = work.get(client);
    return found === undefined ? 0 : found.bytes * 0.5 ** ((clock.steadyMs() - found.atMs) / halfLifeMs);
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (waiting.size > 0) {
      await pause();
      refuseLate();
      const next = takeNext();
      if (next === undefined) break;
      await pace.spend({ bytes: next.bytes, elements: 1 });
      await next.begin();
    }
    isServing = false;
  }

  /** Without it, bodies that no request waits for would fill the memory. */
  function refuseLate(): void {
    for (const [client, own] of waiting) {
      const isLate = ({ sinceMs }: Waiting): boolean => clock.steadyMs() - sinceMs >= waitMs;
      const late = own.splice(0, own.findLastIndex(isLate) + 1);
      if (own.length === 0) waiting.delete(client);
      for (const { refuse } of late) refuse(new StoreUnavailable('the turn of the callback came too late'));
    }
  }

  function takeNext(): Waiting | undefined {
    const clients = [...waiting].toSorted(([one], [other]) => workOf(one) - workOf(other));
    const [client, own] = clients[0] ?? ['', []];
    const next = own.shift();
    if (own.length === 0) waiting.delete(client);
    return next;
  }
}
