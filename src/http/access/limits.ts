import type { LimitName } from '../../security/rates/limits.js';
import type { Allowance, RateKey, RateLimiter, RateVerdict } from '../../security/rates/rate-limit.js';
import { ipBuckets } from '../../security/rates/client-ip.js';
import type { KnownDevice } from '../../security/guessing/guard.js';
import { HttpError } from '../replies/error-codes.js';
import { carrying } from '../../kit/trace.js';
import type { Availability } from '../../observing/stores/availability.js';
import type { SteadyClock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';

export type Limiter = RateLimiter<LimitName>;

export type NoteAllowance = (allowance: Allowance | null) => void;

/**
 * A limit per client address, or per value of a parameter in the path; only replies with these statuses count. Per address, the
 * known devices of an account or a share count apart, so that no neighbour uses up their part.
 */
export interface RouteLimit {
  readonly name: LimitName;
  readonly counts: readonly number[] | 'all';
  /** The name of the parameter. */
  readonly by?: string;
}

/** Counts a request. Returns what the limit still allows. @throws HttpError 429 with `Retry-After` */
export function takeOne(limiter: Limiter, name: LimitName, key: RateKey): Allowance | null {
  const verdict = limiter.check(name, key);
  if (!verdict.allowed) throw rateLimited(verdict);
  return verdict.allowance;
}

/** Returns the headers that tell what a limit still allows (draft-ietf-httpapi-ratelimit-headers-06, section 5). */
export function headersOfAllowance({ limit, remaining, resetSeconds }: Allowance): Record<string, string> {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  };
}

/**
 * Limits the wrong credentials of a client.
 * @param name counts each 401 of the check
 * @throws HttpError 429 before the check while the limit is reached; the errors of the check
 */
export function withWrongOnesLimited<Result>(
  limiter: Limiter,
  name: LimitName,
  client: string,
  check: () => Result,
): Result {
  const key = ipBuckets(client);
  const verdict = limiter.probe(name, key);
  // Figures would tell a guesser how many tries are left.
  if (!verdict.allowed) throw rateLimited({ ...verdict, allowance: null });
  const countWrong = (error: unknown): never => {
    if (error instanceof HttpError && error.status === 401) limiter.check(name, key);
    throw error;
  };
  try {
    const result = check();
    return result instanceof Promise ? (result.catch(countWrong) as Result) : result;
  } catch (error) {
    return countWrong(error);
  }
}

function rateLimited({ retryAfterSeconds: retryAfter, allowance }: RateVerdict): HttpError {
  const headers = allowance === null ? {} : headersOfAllowance(allowance);
  return new HttpError('rate_limited', 'too many requests; wait and try again', { retryAfter, headers });
}

/**
 * Reserves one use under each limit. The returned function counts it where the status counts, releases the others, and
 * returns what the nearest limit still allows.
 * @throws HttpError 429 when one limit refuses; then none is charged
 */
export function reserveLimits(
  limiter: Limiter,
  limits: readonly RouteLimit[],
  input: {
    readonly client: string;
    readonly device: KnownDevice | null;
    readonly params: Readonly<Record<string, string>>;
  },
): (status: number) => Allowance | null {
  const { client, device, params } = input;
  const suffix = device === null ? '' : ` ${device.of}`;
  const ofClient = ipBuckets(client).map(({ key, factor }) => ({ key: `${key}${suffix}`, factor }));
  const keyOf = ({ by }: RouteLimit): RateKey => (by === undefined ? ofClient : String(params[by]));
  const reservation = limiter.reserve(limits.map((limit) => ({ name: limit.name, key: keyOf(limit) })));
  if (!reservation.allowed) throw rateLimited(reservation);
  return (status) => {
    const counted = limits.filter(({ counts }) => counts === 'all' || counts.includes(status));
    return reservation.settle((name) => counted.some((limit) => limit.name === name));
  };
}

/** The limits of work: src/http/access/README.md#work. */
type WorkLimit = Extract<LimitName, `work_${string}`>;

/** Counts what stores return to requests, and charges it to those who asked for it. */
export type WorkCharges = ReturnType<typeof makeWorkCharges>;

/** The work of one request. */
export type RequestWork = ReturnType<WorkCharges['begin']>;

/** @throws HttpError 429 while what was charged before exceeds the limit; then the request charges nothing to it */
export type ChargeWork = (name: WorkLimit, key: RateKey) => void;

/** What a request costs is known when it ends, so a limit refuses the requests after the one that exceeds it. */
export function makeWorkCharges(limiter: Limiter) {
  return {
    begin: () => {
      const returned = { count: 0 };
      const charged: (readonly [WorkLimit, RateKey])[] = [];
      return {
        run: <Result>(work: () => Result): Result => carrying({ returned }, work),
        charge: (name: WorkLimit, key: RateKey) => {
          const { allowed, retryAfterSeconds: retryAfter } = limiter.probe(name, key);
          // No figures: those of the other limits count requests.
          if (!allowed)
            throw new HttpError('rate_limited', `${sentences[name]}; wait and try again`, { retryAfter });
          charged.push([name, key]);
        },
        /** Charges the work, once, when the request ends. */
        end: () => {
          for (const [name, key] of charged) limiter.charge(name, key, returned.count);
        },
      };
    },
  };
}

const sentences: Readonly<Record<WorkLimit, string>> = {
  work_user: 'the requests of this user or client have read too much',
  work_project: 'the requests for this project have read too much',
};

export type StoreName = 'eventStore' | 'readModels' | 'state';

/** Whether each store answers. */
export type StoresAvailability = Readonly<Record<StoreName, Pick<Availability, 'awaySinceMs'>>>;

/** A request and what it has done so far. */
export type TrackedRequest = ReturnType<typeof trackRequest>;

export function trackRequest() {
  let isOver = false;
  let appends = 0;
  return {
    isOver: () => isOver,
    /** Reports that the request is answered although its work goes on. */
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
export type RequestLimits = ReturnType<typeof makeRequestLimits>;

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

export function makeRequestLimits(deps: RequestLimitsOptions) {
  const { availability, writesWaitMs = () => 0, clock } = deps;
  const { totalMs = 15_000, awayMs = 2_000, writeMs = 4_700 } = deps;
  const underWay = new Set<Running>();
  let isChecking = false;
  return {
    /**
     * Runs the work of a request. Work that takes longer than the limit goes on, but it appends nothing more.
     * @param stores those that the request cannot do without
     * @throws StoreUnavailable at the limit
     */
    run: (request: TrackedRequest, stores: readonly StoreName[], work: () => Promise<void>) =>
      new Promise<void>((resolve, refuse) => {
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
    return since !== null && clock.steadyMs() - since >= blipMs;
  }
}
