import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type SessionRejection =
  | 'session_not_found'
  /** The session was revoked or has expired. */
  | 'session_over'
  /** The refresh token does not belong to the session. */
  | 'refresh_token_unknown'
  /** The refresh token came back after the grace of its replacement. The session has ended. */
  | 'refresh_token_reused'
  /** The session's refresh token is not the one that the caller expected. */
  | 'refresh_token_superseded';

export function rejectSession(code: SessionRejection, message: string): never {
  throw new CommandRejected<SessionRejection>(code, message);
}
