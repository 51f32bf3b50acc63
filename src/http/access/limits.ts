import type { LimitName } from '../../security/rates/limits.js';
import type { Allowance, RateKey, RateLimiter, RateVerdict } from '../../security/rates/rate-limit.js';
import { ipBuckets } from '../../security/rates/client-ip.js';
import type { KnownDevice } from '../../security/guessing/guard.js';
import { HttpError } from '../replies/error-codes.js';

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
  refuseWhenExceeded(verdict);
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

function refuseWhenExceeded(verdict: RateVerdict): void {
  if (!verdict.allowed) throw rateLimited(verdict);
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
