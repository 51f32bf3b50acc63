/** Why a platform did not do what it was asked. */
type PlatformFailure =
  /** The platform refused the request. Another try has the same result. */
  | 'refused'
  /** Nothing was done: not reached, too many requests, or an error of the platform. */
  | 'unavailable'
  /** The request was sent, and its outcome is unknown. Another try with the same key is safe. */
  | 'outcome_unknown';

export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly failure: PlatformFailure;
  /** The platform's error code, without personal data; for the log and the operator. */
  readonly code: string | null;

  constructor(failure: PlatformFailure, code: string | null) {
    super(`the platform failed: ${failure}${code === null ? '' : ` (${code})`}`);
    this.failure = failure;
    this.code = code;
  }
}
