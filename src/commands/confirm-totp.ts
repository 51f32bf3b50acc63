import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { sessionAggregate } from '../domain/session/session.js';
import { rejectUser } from '../domain/user/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import type { IssueRecoveryCodes } from './issue-recovery-codes.js';
import { loadRegistered } from './registered-user.js';
import type { SecondFactors } from './second-factors.js';

export interface ConfirmTotpInput {
  readonly userId: string;
  /** The session that asks. It has passed the second factor herewith. */
  readonly sessionId: string;
  readonly clientIp: string;
  readonly code: string;
}

/**
 * Turns the second factor on, once a code of the enrolment was right.
 * @returns the recovery codes, shown this one time
 * @throws CommandRejected user_not_found, totp_already_on, totp_enrolment_superseded, second_factor_refused, session_over;
 * TooManyAttempts
 */
export type ConfirmTotp = (input: ConfirmTotpInput, context: CommandContext) => Promise<readonly string[]>;

export function makeConfirmTotp({
  handler,
  secondFactors,
  issueRecoveryCodes,
}: {
  readonly handler: CommandHandler;
  readonly secondFactors: Pick<SecondFactors, 'firstStep'>;
  readonly issueRecoveryCodes: IssueRecoveryCodes;
}): ConfirmTotp {
  return async ({ userId, sessionId, clientIp, code }, context) => {
    const { totp } = await loadRegistered(handler, userId);
    if (totp.status === 'on') {
      return rejectUser('totp_already_on', 'two-factor authentication is on already; remove it first');
    }
    if (totp.status === 'off') {
      return rejectUser('totp_enrolment_superseded', 'no enrolment has begun; begin one first');
    }
    const { enrolmentId, secret } = totp;
    const step = await secondFactors.firstStep({ userId, clientIp, now: context.time }, secret, code);
    const { codes, digests } = issueRecoveryCodes(userId);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'ConfirmTotp', enrolmentId, step, recoveryCodes: digests },
      context,
    );
    // After a crash in between the session passes the second factor as every other one does.
    await handler.handle(
      { aggregate: sessionAggregate, id: sessionId },
      { type: 'Strengthen', method: 'otp', refresh: null, now: context.time },
      context,
    );
    return codes;
  };
}
