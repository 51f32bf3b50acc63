/** What a user's stream says about sessions: those of an older epoch are over, save the one that its end has spared. */
export interface SessionEpoch {
  /** Counts password changes and revocations of all sessions. */
  readonly epoch: number;
  /** The session that the last of them kept; null when it kept none. */
  readonly keptSessionId: string | null;
}

/** Whether a session, which copied the epoch at its start, has not been ended by its user's stream (DESIGN 3, "Sessions"). */
export function sessionHolds(
  user: SessionEpoch,
  session: { readonly id: string; readonly epoch: number },
): boolean {
  return session.epoch >= user.epoch || session.id === user.keptSessionId;
}
