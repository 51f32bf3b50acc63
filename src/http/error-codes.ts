/**
 * Every `code` that an error reply may carry, with its status (DESIGN section 4). A code has one status everywhere, save
 * that `invalid_request` also answers requests that HTTP itself refuses (408, 414, 431).
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
  not_found: 404,
  method_not_allowed: 405,
  email_taken: 409,
  conflict: 409,
  capacity_exceeded: 409,
  idempotency_key_reused: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  too_many_attempts: 429,
  internal_error: 500,
  mail_not_configured: 503,
  agent_secret_not_configured: 503,
  provider_not_configured: 503,
  password_not_checkable: 503,
  overloaded: 503,
  store_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** What `invalid_request` may also be answered with: the request never became one that a route could judge. */
export type TransportStatus = 408 | 414 | 431;

/** Replies of 503 name a wait; what only an operator can change names a longer one. Seconds. */
const secondsToRetry: Partial<Record<ErrorCode, number>> = {
  mail_not_configured: 60,
  agent_secret_not_configured: 60,
  provider_not_configured: 60,
  password_not_checkable: 60,
  overloaded: 1,
  store_unavailable: 1,
  rate_limited: 1,
  too_many_attempts: 1,
};

/** Seconds for `Retry-After` where nobody knows better; undefined where the code promises none. */
export function retryAfterOf(code: ErrorCode): number | undefined {
  return secondsToRetry[code];
}
