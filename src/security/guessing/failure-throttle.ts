/** The delays after failures: docs/design.md#guessing. Times in milliseconds. */
export interface ThrottleLimits {
  /** Failures without any wait. */
  readonly free: number;
  /** The wait after the last free failure; each further failure doubles it. */
  readonly firstWaitMs: number;
  readonly waitMsMax: number;
  /** After the wait, each further period of this length removes one failure. */
  readonly forgetMs: number;
}

/** The count of failures, and the time of the last one (epoch milliseconds). */
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

/**
 * Returns whether the next attempt may begin. A refused attempt counts nowhere, so the right password passes as soon as
 * the wait is over. If `forgetMs` is the longest wait, any W milliseconds pass at most W / forgetMs failures beyond
 * those that lead to the longest wait: 15 and then 96 a day for a sign-in.
 */
export function judgeTry(limits: ThrottleLimits, state: FailureState | null, nowMs: number): ThrottleVerdict {
  if (state === null) return { allowed: true };
  // No clock of another process is so far ahead: this clock was set back. The attempt counts with the present time.
  if (state.lastAtMs - nowMs > limits.waitMsMax) return { allowed: true };
  const waited = Math.max(0, nowMs - state.lastAtMs);
  const leftMs = waitMs(limits, state.failures) - waited;
  if (leftMs <= 0) return { allowed: true };
  return { allowed: false, retryAfterSeconds: Math.ceil(leftMs / 1_000) };
}

/** Returns the state after one more failure, without the failures that time has removed. */
export function countFailure(
  limits: ThrottleLimits,
  state: FailureState | null,
  nowMs: number,
): FailureState {
  const counted = state === null ? 0 : stillCounted(limits, state, nowMs);
  // Failures beyond the longest wait are not counted: they would only take longer to forget.
  return { failures: Math.min(counted + 1, failuresMax(limits)), lastAtMs: nowMs };
}

export function withdrawFailure(state: FailureState): FailureState | null {
  return state.failures <= 1 ? null : { ...state, failures: state.failures - 1 };
}

/** Returns when the last failure is forgotten, in epoch milliseconds. */
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

/** Returns the smallest count of failures with the longest wait. */
function failuresMax({ free, firstWaitMs, waitMsMax }: ThrottleLimits): number {
  return free + Math.max(0, Math.ceil(Math.log2(waitMsMax / firstWaitMs)));
}
