/** At most `limit` at once, and on the long run `limit` every `seconds`. */
export interface RateLimit {
  readonly limit: number;
  readonly seconds: number;
}

export interface GcraVerdict {
  readonly allowed: boolean;
  /** Milliseconds until the next one would be allowed; 0 when this one is. */
  readonly retryAfterMs: number;
}

/**
 * The generic cell rate algorithm (ITU-T I.371, virtual scheduling) with the whole limit as burst. The state of a key
 * is one number, the theoretical arrival time in milliseconds; none, or one in the past, is that of a fresh key.
 * In any stretch of W seconds at most `limit + W × limit / seconds` pass.
 */
export function gcraJudge(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
): GcraVerdict {
  const intervalMs = (seconds * 1_000) / limit;
  const waitMs = (arrivalMs ?? nowMs) - (limit - 1) * intervalMs - nowMs;
  // Sums of fractions of a millisecond are not exact; a thousandth of one is nobody's advantage.
  return waitMs <= 0.001 ? { allowed: true, retryAfterMs: 0 } : { allowed: false, retryAfterMs: waitMs };
}

/** The state of a key after one more was counted. */
export function gcraCount(
  { limit, seconds }: RateLimit,
  arrivalMs: number | undefined,
  nowMs: number,
): number {
  return Math.max(arrivalMs ?? nowMs, nowMs) + (seconds * 1_000) / limit;
}
