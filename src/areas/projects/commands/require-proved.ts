import { sessionHolds } from '../../accounts/domain/guard.js';
import { rejectUser } from '../../accounts/domain/user/rejections.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import type { ProjectDeps } from '../deps.js';
import { rejectUseCase } from '../../shared/rejections.js';

/** The session that asks for a command which gives access to others. */
export interface ActingSession {
  readonly id: string;
  /** The epoch of the user at the start of the session. */
  readonly epoch: number;
}

/**
 * Checks, in one read of the account, that its session holds and that it may give others access or make the service mail them: where
 * mail is configured, only a user with a proved address may. Otherwise made-up accounts could mail strangers, and what they gave
 * would outlive the proof by the owner of the address.
 * @throws CommandRejected session_ended, email_not_verified
 */
export type RequireProved = ReturnType<typeof makeRequireProved>;

export function makeRequireProved({ handler, mailConfigured }: ProjectDeps) {
  return async (input: {
    readonly actorId: string;
    /** Null: an API key of the account acts. */
    readonly session: ActingSession | null;
  }): Promise<void> => {
    const { actorId, session } = input;
    const { state } = await handler.load(userAggregate, actorId);
    if (state.status !== 'registered' || (session !== null && !sessionHolds(state, session)))
      return rejectUser('session_ended', 'the session has ended');
    if (!mailConfigured || state.email_verified) return;
    rejectUseCase(
      'email_not_verified',
      'prove your own address first: send the code that was mailed to it to POST /auth/email/verify; POST /auth/email/verify/send mails another',
    );
  };
}
