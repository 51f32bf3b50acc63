/** At most `limit` at once, and in the long run `limit` every `seconds`. */
export type RateLimit = { readonly limit: number; readonly seconds: number };

interface GcraVerdict {
  readonly allowed: boolean;
  /** Milliseconds until the next attempt is allowed; 0 when this one is. */
  readonly retryAfterMs: number;
}

/**
 * Judges by the generic cell rate algorithm (ITU-T I.371, virtual scheduling) with the whole limit as burst. The state
 * is the theoretical arrival time in ms. Any W seconds pass at most `limit + W × limit / seconds` attempts.
 */
export function gcraJudge(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
): GcraVerdict {
  const intervalMs = (seconds * 1_000) / limit;
  const waitMs = (arrivalMs ?? nowMs) - (limit - 1) * intervalMs - nowMs;
  // Sums of fractions of a millisecond are inexact: tolerate a thousandth.
  return waitMs <= 0.001 ? { allowed: true, retryAfterMs: 0 } : { allowed: false, retryAfterMs: waitMs };
}

export function gcraCount(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
  times = 1,
): number {
  return Math.max(arrivalMs ?? nowMs, nowMs) + (times * seconds * 1_000) / limit;
}

/** What a limit still allows. */
export interface Allowance {
  readonly limit: number;
  /** Attempts that the limit allows at once. */
  readonly remaining: number;
  /** Whole seconds until the limit is whole again; after a refusal, until it allows an attempt. */
  readonly resetSeconds: number;
}

export function gcraAllowance(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
): Allowance {
  const aheadMs = Math.max((arrivalMs ?? nowMs) - nowMs, 0);
  // The same tolerance as in `gcraJudge`.
  const used = ((aheadMs - 0.001) * limit) / (seconds * 1_000);
  const remaining = Math.min(Math.max(Math.floor(limit - used), 0), limit);
  return { limit, remaining, resetSeconds: Math.ceil(aheadMs / 1_000) };
}

/** Returns the allowance that is nearer to a refusal. */
export function nearerToRefusal(one: Allowance | null, other: Allowance): Allowance {
  return one !== null && one.remaining <= other.remaining ? one : other;
}

/**
 * Returns the arrival time, at most one period of the limit ahead: no count leads further. A time beyond that was
 * written before the clock was set back. Its owner stores the result, or the time would stay ahead for the whole step.
 */
export function gcraCap({ seconds }: RateLimit, arrivalMs: number, nowMs: number): number {
  return Math.min(arrivalMs, nowMs + seconds * 1_000);
}
