import type { FieldProblem } from '../../validation/field-problems.js';

interface HttpErrorOptions {
  readonly status?: TransportStatus;
  /** Seconds. They are rounded up to whole seconds. */
  readonly retryAfter?: number;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields that are wrong, which the message lists. */
  readonly problems?: readonly FieldProblem[];
  /** Tells cases of one code apart. */
  readonly reason?: string | null;
}

/** An error with a known reply. The caller sees the message. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly problems: readonly FieldProblem[];
  readonly reason: string | null;
  constructor(code: ErrorCode, message: string, options: HttpErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? errorStatus[code];
    this.problems = options.problems ?? [];
    this.reason = options.reason ?? null;
    const retryAfter = options.retryAfter ?? secondsToRetry[code];
    this.headers =
      retryAfter === undefined
        ? (options.headers ?? {})
        : { ...options.headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
  }
}

/**
 * Every `code` of an error reply, with its status (docs/errors-and-limits.md#errors). A code has the same status everywhere,
 * except `invalid_request`, which also answers requests that HTTP itself refuses (408, 414, 431).
 */
export const errorStatus = {
  invalid_request: 400,
  invalid_json: 400,
  unauthorized: 401,
  invalid_token: 401,
  token_expired: 401,
  refresh_token_reused: 401,
  invalid_credentials: 401,
  invalid_signature: 401,
  forbidden: 403,
  insufficient_role: 403,
  insufficient_scope: 403,
  api_key_not_allowed: 403,
  entitlement_required: 403,
  two_factor_required: 403,
  account_banned: 403,
  reauthentication_required: 403,
  email_not_verified: 403,
  not_found: 404,
  method_not_allowed: 405,
  email_taken: 409,
  conflict: 409,
  capacity_exceeded: 409,
  object_key_taken: 409,
  cursor_expired: 409,
  project_limit_reached: 409,
  payment_not_offered: 409,
  payment_pending: 409,
  idempotency_key_reused: 409,
  document_too_large: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  too_many_attempts: 429,
  internal_error: 500,
  mail_not_configured: 503,
  passkeys_not_configured: 503,
  agent_secret_not_configured: 503,
  provider_not_configured: 503,
  password_not_checkable: 503,
  nothing_signed: 503,
  bucket_unavailable: 503,
  platform_unavailable: 503,
  overloaded: 503,
  store_unavailable: 503,
  outcome_unknown: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** The other statuses of `invalid_request`, for requests that reach no route. */
type TransportStatus = 408 | 414 | 431;

/** Seconds to wait, by code. A 503 that only an operator can cure names a longer wait. */
const secondsToRetry: Partial<Record<ErrorCode, number>> = {
  mail_not_configured: 60,
  passkeys_not_configured: 60,
  agent_secret_not_configured: 60,
  provider_not_configured: 60,
  password_not_checkable: 60,
  nothing_signed: 10,
  bucket_unavailable: 10,
  platform_unavailable: 10,
  overloaded: 1,
  store_unavailable: 1,
  outcome_unknown: 1,
  rate_limited: 1,
  too_many_attempts: 1,
};
