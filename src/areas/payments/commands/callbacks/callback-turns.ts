import { setTimeout } from 'node:timers/promises';
import type { SteadyClock } from '../../../../kit/time/clock.js';
import { makeLru } from '../../../../kit/lru.js';
import { type Pace, processPace } from '../../../../kit/read-in-turns.js';

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
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

/**
 * The order in which callbacks are verified. Every callback gets its turn. Those of a client with failed signatures wait
 * behind all others, and among themselves behind those of clients with less refused work.
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
    /** Waits for the turn of a callback. @param client a client address, or the network of one */
    wait: async (client: string, bytes: number) => {
      if (workOf(client) < forgottenBytes) {
        await pace.spend({ bytes, elements: 1 });
        return;
      }
      await new Promise<void>((begin) => {
        const own = waiting.get(client) ?? [];
        own.push({ bytes, begin });
        waiting.set(client, own);
        if (!isServing) void serve();
      });
    },
    /** Counts the work of a callback whose signature does not hold. */
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
      const next = takeNext();
      await pace.spend({ bytes: next.bytes, elements: 1 });
      next.begin();
    }
    isServing = false;
  }

  function takeNext(): Waiting {
    const clients = [...waiting.keys()];
    const client = clients.reduce((least, one) => (workOf(one) < workOf(least) ? one : least));
    const own = waiting.get(client) ?? [];
    const next = own.shift();
    if (next === undefined) throw new Error('a client without callbacks waits');
    if (own.length === 0) waiting.delete(client);
    return next;
  }
}
