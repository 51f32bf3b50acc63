import { CommandRejected } from '../../event-sourcing/errors.js';

export type SessionRejection =
  | 'session_not_found'
  /** It was revoked or has expired. */
  | 'session_over'
  /** The refresh token is none of the session's. */
  | 'refresh_token_unknown'
  /** The refresh token had been replaced for longer than the grace: the session has ended. */
  | 'refresh_token_reused'
  /** The session has another refresh token than the caller's decision was made for. */
  | 'refresh_token_superseded';

export function rejectSession(code: SessionRejection, message: string): never {
  throw new CommandRejected<SessionRejection>(code, message);
}
