import type { NamedLimit, RateKey, RateLimit, RateLimiter, RateVerdict } from '../security/rate-limit.js';
import { HttpError } from './http-error.js';

/** Defaults (DESIGN section 5); README lists them and `LIMITS_FILE` changes them by name. */
export const defaultLimits = {
  /** Registrations per client address. */
  register: { limit: 60, seconds: 3600, failsClosed: true },
  /** Requests per session and per API key. */
  session: { limit: 600, seconds: 60 },
  api_key: { limit: 600, seconds: 60 },
} as const satisfies Record<string, NamedLimit>;

export type LimitName = keyof typeof defaultLimits;
export type Limiter = RateLimiter<LimitName>;

/** Counts one under a limit. @throws HttpError 429 with `Retry-After` */
export function takeOne(limiter: Limiter, name: LimitName, key: RateKey): void {
  refuseWhenExceeded(limiter.check(name, key));
}

export function refuseWhenExceeded({ allowed, retryAfterSeconds }: RateVerdict): void {
  if (allowed) return;
  throw new HttpError('rate_limited', 'too many requests; wait and try again', {
    retryAfter: retryAfterSeconds,
  });
}

/**
 * The limits that hold: the defaults, changed by name.
 * @throws Error naming what is no limit of this service
 */
export function limitsFrom(
  changes: Readonly<Record<string, RateLimit>>,
): Readonly<Record<LimitName, NamedLimit>> {
  const unknown = Object.keys(changes).filter((name) => !Object.hasOwn(defaultLimits, name));
  if (unknown.length > 0) {
    const known = Object.keys(defaultLimits).join(', ');
    throw new Error(`LIMITS_FILE: there is no limit named ${unknown.join(', ')}; there are ${known}`);
  }
  return {
    register: { ...defaultLimits.register, ...changes['register'] },
    session: { ...defaultLimits.session, ...changes['session'] },
    api_key: { ...defaultLimits.api_key, ...changes['api_key'] },
  };
}
