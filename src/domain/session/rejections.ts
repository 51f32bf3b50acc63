import { CommandRejected } from '../../event-sourcing/errors.js';

export type SessionRejection =
  | 'session_not_found'
  /** It was revoked or has expired. */
  | 'session_over'
  /** The refresh token is none of the session's. */
  | 'refresh_token_unknown'
  /** The session has another refresh token than the caller's decision was made for. */
  | 'refresh_token_superseded';

export function rejectSession(code: SessionRejection, message: string): never {
  throw new CommandRejected<SessionRejection>(code, message);
}
