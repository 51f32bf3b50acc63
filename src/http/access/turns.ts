import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { makeKeyedSemaphore } from '../../kit/keyed-semaphore.js';
import { Overloaded } from '../../kit/overloaded.js';
import { HttpError } from '../replies/http-error.js';

/** Bounds the requests of a caller that work at once: docs/design.md#requests-at-once. */
export interface RequestTurns {
  /** Makes the turn of a request, which takes no place yet. A request whose reply is closed waits no longer. */
  of(response: ServerResponse): RequestTurn;
}

/** The places that a request holds. */
export interface RequestTurn {
  /**
   * Waits for a place of each caller, one after the other in the given order. All requests give the callers in the
   * same order, so none waits for a place of a request that waits for its place.
   * @returns undefined where it does not wait
   * @throws HttpError 429 when too many requests of a caller wait; the promise rejects with it when the reply is closed
   * during the wait
   */
  readonly take: TakeTurn;
  /** Gives all places back, once. */
  end(): void;
}

export type TakeTurn = (callers: readonly string[]) => Promise<void> | undefined;

/** `MAX_REQUESTS_PER_USER` by default: a browser sends six at once, and a store needs a few to be busy. */
export const requestsPerUserMax = 4;

/** With those that work, as many as a client address may have connections by default. */
const waitingMax = 96;

/** @param atOnce requests of a caller that work at once */
export function makeTurns(atOnce: number): RequestTurns {
  const places = makeKeyedSemaphore({ permits: atOnce, waitingMax });
  return {
    of: (response) => {
      const held: (() => void)[] = [];
      const leave = (): AbortSignal => closedSignal(response);
      const wait = async (place: Promise<() => void>, others: readonly string[]): Promise<void> => {
        held.push(await place);
        for (const caller of others) held.push(await placeOf(caller, leave));
        // A request that ends starts the next of its caller. Requests of others have their turn first.
        await setImmediate();
      };
      return {
        take: (callers) => {
          for (const [index, caller] of callers.entries()) {
            const place = placeOf(caller, leave);
            if (place instanceof Promise) return wait(place, callers.slice(index + 1));
            held.push(place);
          }
          return undefined;
        },
        end: () => {
          for (const release of held.splice(0)) release();
        },
      };
    },
  };

  function placeOf(caller: string, leave: () => AbortSignal): (() => void) | Promise<() => void> {
    try {
      return places.acquire(caller, leave);
    } catch (error) {
      if (error instanceof Overloaded) throw tooManyAtOnce();
      throw error;
    }
  }
}

function closedSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  const abort = (): void => {
    // The log shows it as a refusal. No client reads it.
    closed.abort(tooManyAtOnce());
  };
  if (response.closed) abort();
  else response.once('close', abort);
  return closed.signal;
}

function tooManyAtOnce(): HttpError {
  return new HttpError('rate_limited', 'too many requests of this user or API key at once; wait for replies');
}
