import type { Availability } from '../../observing/stores/availability.js';
import type { RequestProgress } from '../../event-sourcing/ports/command-context.js';
import { type SteadyClock, steadyMsOf } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';

export type StoreName = 'eventStore' | 'readModels' | 'state';

/** Whether each store answers. */
export type StoresAvailability = Readonly<Record<StoreName, Pick<Availability, 'awaySinceMs'>>>;

/** A request and what it has done so far. */
export interface TrackedRequest extends RequestProgress {
  mayHaveWritten(): boolean;
  /** Reports that the request is answered although its work goes on. */
  close(): void;
}

export function trackRequest(): TrackedRequest {
  let isOver = false;
  let appends = 0;
  return {
    isOver: () => isOver,
    close: () => {
      isOver = true;
    },
    appending: () => {
      appends += 1;
    },
    wroteNothing: () => {
      appends -= 1;
    },
    mayHaveWritten: () => appends > 0,
  };
}

/** Limits the whole work of a request, however many calls it makes (src/http/access/README.md#limit-of-a-request). */
export interface RequestLimits {
  /**
   * Runs the work of a request. Work that takes longer than the limit goes on, but it appends nothing more.
   * @param stores those that the request cannot do without
   * @throws StoreUnavailable at the limit
   */
  run(request: TrackedRequest, stores: readonly StoreName[], work: () => Promise<void>): Promise<void>;
}

export interface RequestLimitsOptions {
  readonly availability?: StoresAvailability | undefined;
  /** Returns for how long the oldest write to embedded stores has waited. */
  readonly writesWaitMs?: (() => number) | undefined;
  readonly clock: SteadyClock;
  /** 15 s by default; 2 s while a store that the request needs is away; 4.7 s for a change while the disk does not answer. */
  readonly totalMs?: number;
  readonly awayMs?: number;
  readonly writeMs?: number;
}

/** A store counts as away after this time without an answer. A shorter blip must not fail a request. */
const blipMs = 1_000;

/** One timer serves all requests, because a timer for each costs more than the fastest request can spare. */
const checkMs = 250;

interface Running {
  readonly startedMs: number;
  readonly request: TrackedRequest;
  readonly stores: readonly StoreName[];
  readonly refuse: (error: Error) => void;
}

export function makeRequestLimits(deps: RequestLimitsOptions): RequestLimits {
  const { availability, writesWaitMs = () => 0, clock } = deps;
  const { totalMs = 15_000, awayMs = 2_000, writeMs = 4_700 } = deps;
  const underWay = new Set<Running>();
  let isChecking = false;
  return {
    run: (request, stores, work) =>
      new Promise((resolve, refuse) => {
        const running: Running = { startedMs: performance.now(), request, stores, refuse };
        underWay.add(running);
        checkLater();
        // `finally` would need a further promise, a fiftieth of the time of the fastest request.
        work().then(
          () => {
            underWay.delete(running);
            resolve();
          },
          (error: unknown) => {
            underWay.delete(running);
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of the work, unchanged
            refuse(error);
          },
        );
      }),
  };

  function checkLater(): void {
    if (isChecking) return;
    isChecking = true;
    setTimeout(check, Math.min(checkMs, totalMs, awayMs, writeMs)).unref();
  }

  function check(): void {
    isChecking = false;
    const nowMs = performance.now();
    for (const running of underWay) {
      const [limitMs, why] = limitOf(running.stores);
      if (nowMs - running.startedMs < limitMs) continue;
      underWay.delete(running);
      running.request.close();
      running.refuse(new StoreUnavailable(`the request took longer than ${limitMs} ms${why}`));
    }
    if (underWay.size > 0) checkLater();
  }

  function limitOf(stores: readonly StoreName[]): readonly [limitMs: number, why: string] {
    const awayStore = stores.find(isAway);
    if (awayStore !== undefined) return [awayMs, `, and the store ${awayStore} does not answer`];
    // Only a change needs the log.
    if (stores.includes('eventStore') && writesWaitMs() >= blipMs)
      return [writeMs, ', and the disk does not answer'];
    return [totalMs, ''];
  }

  function isAway(store: StoreName): boolean {
    const since = availability?.[store].awaySinceMs() ?? null;
    return since !== null && steadyMsOf(clock) - since >= blipMs;
  }
}
