import { makeNewestFirst, makeSemaphore, type Semaphore } from '../../../kit/semaphore.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';

/** The calls of one store. Each has a time limit, and none starts after `close`. */
interface LimitedCalls {
  /**
   * Runs a call, whose signal aborts at the time limit. `failure` turns any error of it into an error of the port.
   * @throws StoreUnavailable when the store is closed, or when no permit was free in time; then nothing was sent
   */
  run<T>(call: {
    readonly failure: (error: unknown) => Error;
    /** The gate of the call; a call without one takes no permit. */
    readonly gate?: Semaphore;
    readonly signal?: AbortSignal | undefined;
    readonly run: (signal: AbortSignal) => Promise<T>;
  }): Promise<T>;
  /** Refuses further calls. Resolves when the calls under way have ended. */
  close(): Promise<void>;
}

/** @param withinLimit runs a call within its time limit, or until its caller cancels it */
export function makeLimitedCalls(
  withinLimit: <T>(run: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) => Promise<T>,
): LimitedCalls {
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  return {
    run: async ({ failure, gate, signal, run }) => {
      const call = (): ReturnType<typeof run> =>
        limited(signal, run).catch((error: unknown) => {
          throw failure(error);
        });
      checkOpen(signal);
      return gate === undefined
        ? call()
        : gate.run(() => {
            // The store may have been closed, and the caller may have left, during the wait for the permit.
            checkOpen(signal);
            return call();
          });
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };

  function checkOpen(signal: AbortSignal | undefined): void {
    if (closed) throw new StoreUnavailable('the event store has been closed');
    if (signal?.aborted === true) throw new StoreUnavailable('the caller cancelled the call');
  }

  async function limited<T>(
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const call = withinLimit(run, signal);
    underWay.add(call);
    try {
      return await call;
    } finally {
      underWay.delete(call);
    }
  }
}

/** Makes the gate in front of one kind of call: src/stores/eventstoredb/README.md#calls. */
export function makeCallGate(permits: number, waitMs: number): Semaphore {
  const refused = () =>
    new StoreUnavailable(
      `${permits} calls to the event store are under way, and none ended within ${waitMs} ms`,
    );
  return makeSemaphore(permits, makeNewestFirst({ waitMs, refused }));
}
