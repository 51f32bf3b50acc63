import { StoreUnavailable } from '../../event-sourcing/errors.js';
import { withinLimit } from './time-limit.js';

/** The calls of one store: each under its time limit, so many at once and no more, and none after the end. */
export interface Calls {
  /**
   * @param failure makes the port's error of whatever the call fails with
   * @param run is given a signal that aborts when the time is over
   * @throws StoreUnavailable when the store is closed or has too much under way: nothing was sent then
   */
  run<T>(
    failure: (error: unknown) => Error,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Refuses further calls and resolves when those under way have ended. */
  close(): Promise<void>;
}

export function makeCalls(limits: { readonly callMs: number; readonly callsMax: number }): Calls {
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  return {
    run: async (failure, signal, run) => {
      if (closed) throw new StoreUnavailable('the event store has been closed');
      if (signal?.aborted === true) throw new StoreUnavailable('the caller gave the call up');
      if (underWay.size >= limits.callsMax) {
        throw new StoreUnavailable(`${limits.callsMax} calls to the event store are under way already`);
      }
      const call = withinLimit({ ms: limits.callMs, signal }, run);
      underWay.add(call);
      try {
        return await call;
      } catch (error) {
        throw failure(error);
      } finally {
        underWay.delete(call);
      }
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };
}
