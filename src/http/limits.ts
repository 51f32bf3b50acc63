import type { NamedLimit, RateKey, RateLimit, RateLimiter, RateVerdict } from '../security/rate-limit.js';
import { ipBuckets } from '../security/client-ip.js';
import { HttpError } from './http-error.js';

/** Defaults (DESIGN section 5); README lists them and `LIMITS_FILE` changes them by name. */
export const defaultLimits = {
  /** Registrations per client address. */
  register: { limit: 60, seconds: 3600, failsClosed: true },
  /** Sign-ins by password or code per client address, whatever their outcome. */
  login: { limit: 20, seconds: 60, failsClosed: true },
  /** Login codes sent per client address: the burst, and the day's. Both are asked together. */
  email_code: { limit: 5, seconds: 600, failsClosed: true },
  email_code_day: { limit: 30, seconds: 86_400, failsClosed: true },
  /** Codes sent to new addresses of accounts, and refusals of taken ones, per client address. */
  email_change: { limit: 5, seconds: 600, failsClosed: true },
  /** Refreshed tokens, and tries at a second factor, per client address. */
  refresh: { limit: 60, seconds: 60, failsClosed: true },
  two_factor: { limit: 10, seconds: 60, failsClosed: true },
  /** Tries at the password of any share, and renewals of media URLs, per client address. */
  share_verify: { limit: 30, seconds: 60, failsClosed: true },
  share_media: { limit: 60, seconds: 60, failsClosed: true },
  /**
   * Invitations that are mailed: to a project, by a user, and to an address. Counted in the state store, so in all
   * processes together; nothing is mailed while that is away.
   */
  invitation_project: { limit: 200, seconds: 86_400 },
  invitation_inviter: { limit: 300, seconds: 86_400 },
  invitation_address: { limit: 10, seconds: 86_400 },
  /** Requests per session and per API key. */
  session: { limit: 600, seconds: 60 },
  api_key: { limit: 600, seconds: 60 },
} as const satisfies Record<string, NamedLimit>;

export type LimitName = keyof typeof defaultLimits;
export type Limiter = RateLimiter<LimitName>;

/** A limit per client address, and the statuses of the replies that count. */
export interface RouteLimit {
  readonly name: LimitName;
  readonly counts: readonly number[] | 'all';
}

/** Counts one under a limit. @throws HttpError 429 with `Retry-After` */
export function takeOne(limiter: Limiter, name: LimitName, key: RateKey): void {
  refuseWhenExceeded(limiter.check(name, key));
}

function refuseWhenExceeded({ allowed, retryAfterSeconds }: RateVerdict): void {
  if (!allowed) throw rateLimited(retryAfterSeconds);
}

function rateLimited(retryAfter: number): HttpError {
  return new HttpError('rate_limited', 'too many requests; wait and try again', { retryAfter });
}

/**
 * Takes a place under each limit for a client. What is returned gives them back, and counts the reply's status where it counts.
 * @throws HttpError 429 with `Retry-After` when one limit refuses; then none is charged
 */
export function reservePlaces(
  limiter: Limiter,
  limits: readonly RouteLimit[],
  client: string,
): (status: number) => void {
  const key = ipBuckets(client);
  const reservation = limiter.reserve(limits.map(({ name }) => ({ name, key })));
  if (!reservation.allowed) throw rateLimited(reservation.retryAfterSeconds);
  return (status) => {
    const counted = limits.filter(({ counts }) => counts === 'all' || counts.includes(status));
    reservation.settle((name) => counted.some((limit) => limit.name === name));
  };
}

/**
 * The limits that hold: the defaults, changed by name.
 * @throws Error naming what is no limit of this service
 */
export function limitsFrom(
  changes: Readonly<Record<string, RateLimit>>,
): Readonly<Record<LimitName, NamedLimit>> {
  const limits: Record<LimitName, NamedLimit> = { ...defaultLimits };
  const unknown: string[] = [];
  for (const [name, change] of Object.entries(changes)) {
    if (isLimitName(name)) limits[name] = { ...limits[name], ...change };
    else unknown.push(name);
  }
  if (unknown.length === 0) return limits;
  const known = Object.keys(defaultLimits).join(', ');
  throw new Error(`LIMITS_FILE: there is no limit named ${unknown.join(', ')}; there are ${known}`);
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(defaultLimits, name);
}
