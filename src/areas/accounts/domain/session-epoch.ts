/** The part of a user's stream that ends sessions: those of an older epoch have ended, except the kept one. */
export type SessionEpoch = {
  /** Counts PasswordChanged, SessionsRevoked, CredentialsVoided, EmailChangeReverted and UserBanned. */
  readonly epoch: number;
  /** The session that the last of these events kept; null if it kept none. */
  readonly kept_session_id: string | null;
};

/** Returns whether the user's stream has not ended the session. `session.epoch` is the user's epoch at its start. */
export function sessionHolds(
  user: SessionEpoch,
  session: { readonly id: string; readonly epoch: number },
): boolean {
  return session.epoch >= user.epoch || session.id === user.kept_session_id;
}
