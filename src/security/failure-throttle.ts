/** How failures slow a client down (DESIGN 5). Times in milliseconds. */
export interface ThrottleLimits {
  /** Failures without any wait. */
  readonly free: number;
  /** The wait after the last free one; each further failure doubles it. */
  readonly firstWaitMs: number;
  readonly waitMsMax: number;
  /** After each such time beyond the wait one failure is forgotten. */
  readonly forgetMs: number;
}

/** Failures that still count, and when the last of them was (epoch milliseconds). */
export interface FailureState {
  readonly failures: number;
  readonly lastAtMs: number;
}

export type ThrottleVerdict =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      /** Whole seconds for `Retry-After`, at least 1. */
      readonly retryAfterSeconds: number;
    };

/** Sign-in: 5 free failures, then 1 s doubling to 15 min; one is forgotten every 15 min. */
export const signInThrottle: ThrottleLimits = {
  free: 5,
  firstWaitMs: 1_000,
  waitMsMax: 900_000,
  forgetMs: 900_000,
};

/**
 * Codes of one account's second factor, of all clients together: 30 free failures, then a minute doubling to 15; one is forgotten
 * every 15 minutes, and no success forgets any. At most 34 and 96 a day pass, each right with a chance of 3 in a million (NIST SP
 * 800-63B, "Rate Limiting", wants failures bounded for an account, wherever they come from).
 */
export const accountCodeThrottle: ThrottleLimits = {
  free: 30,
  firstWaitMs: 60_000,
  waitMsMax: 900_000,
  forgetMs: 900_000,
};

/** Passwords of shares (DESIGN 4.4): 5 free failures, then a minute doubling to an hour; one is forgotten every 15 min. */
export const shareThrottle: ThrottleLimits = {
  free: 5,
  firstWaitMs: 60_000,
  waitMsMax: 3_600_000,
  forgetMs: 900_000,
};

/**
 * Whether the next try may begin. A try that may not counts nowhere, so the right password works as soon as the wait is
 * over. Where `forgetMs` is the longest wait, no stretch of W milliseconds passes more than W / forgetMs failures beyond
 * those that lead to the longest wait: 15 and 96 a day for `signInThrottle`.
 */
export function judgeTry(limits: ThrottleLimits, state: FailureState | null, nowMs: number): ThrottleVerdict {
  if (state === null) return { allowed: true };
  const waited = Math.max(0, nowMs - state.lastAtMs);
  const leftMs = waitMs(limits, state.failures) - waited;
  if (leftMs <= 0) return { allowed: true };
  return { allowed: false, retryAfterSeconds: Math.ceil(leftMs / 1_000) };
}

/** The state after one more failure, with what was forgotten since the last one. */
export function countFailure(
  limits: ThrottleLimits,
  state: FailureState | null,
  nowMs: number,
): FailureState {
  const counted = state === null ? 0 : stillCounted(limits, state, nowMs);
  // Failures that make no wait longer are not worth remembering.
  return { failures: Math.min(counted + 1, failuresMax(limits)), lastAtMs: nowMs };
}

/** The state without one failure that turned out to be none; null when nothing is left. */
export function withdrawFailure(state: FailureState): FailureState | null {
  return state.failures <= 1 ? null : { ...state, failures: state.failures - 1 };
}

/** When a state says no more than none does: epoch milliseconds. */
export function forgottenAtMs(limits: ThrottleLimits, { failures, lastAtMs }: FailureState): number {
  return lastAtMs + waitMs(limits, failures) + failures * limits.forgetMs;
}

function stillCounted(limits: ThrottleLimits, { failures, lastAtMs }: FailureState, nowMs: number): number {
  const quietMs = nowMs - lastAtMs - waitMs(limits, failures);
  return Math.max(0, failures - Math.max(0, Math.floor(quietMs / limits.forgetMs)));
}

function waitMs({ free, firstWaitMs, waitMsMax }: ThrottleLimits, failures: number): number {
  return failures < free ? 0 : Math.min(waitMsMax, firstWaitMs * 2 ** (failures - free));
}

/** The first number of failures with the longest wait. */
function failuresMax({ free, firstWaitMs, waitMsMax }: ThrottleLimits): number {
  return free + Math.max(0, Math.ceil(Math.log2(waitMsMax / firstWaitMs)));
}
