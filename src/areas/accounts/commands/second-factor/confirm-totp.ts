import type { KnownDevice } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { issuedCodes, type IssueRecoveryCodes } from './issue-recovery-codes.js';
import { loadRegistered } from '../registering/registered-user.js';
import type { SecondFactors } from './second-factors.js';

export interface ConfirmTotpInput {
  readonly userId: string;
  /** The session of the request. It passes the second factor too. */
  readonly sessionId: string;
  readonly clientIp: string;
  /** The device of the session, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  readonly code: string;
}

/**
 * Turns TOTP on if the code belongs to the enrolment.
 * @returns the recovery codes, which no other call returns; null where the account had a factor, and so has codes
 * @throws CommandRejected user_not_found, totp_already_on, totp_enrolment_superseded, second_factor_refused,
 * session_over; TooManyAttempts
 */
export type ConfirmTotp = (
  input: ConfirmTotpInput,
  context: CommandContext,
) => Promise<readonly string[] | null>;

export function makeConfirmTotp({
  handler,
  secondFactors,
  issueRecoveryCodes,
}: Pick<AccountDeps, 'handler'> & {
  readonly secondFactors: Pick<SecondFactors, 'firstStep'>;
  readonly issueRecoveryCodes: IssueRecoveryCodes;
}): ConfirmTotp {
  return async ({ userId, sessionId, clientIp, known = null, code }, context) => {
    const { totp } = await loadRegistered(handler, userId);
    if (totp.status === 'on') {
      return rejectUser('totp_already_on', 'an authenticator app is on already; remove it first');
    }
    if (totp.status === 'off') {
      return rejectUser('totp_enrolment_superseded', 'no enrolment has begun; begin one first');
    }
    const { enrolmentId, secret } = totp;
    const step = await secondFactors.firstStep(
      { userId, client: { ip: clientIp, known }, context },
      secret,
      code,
    );
    const made = issueRecoveryCodes(userId);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'ConfirmTotp', enrolmentId, step, recoveryCodes: made.digests },
      context,
    );
    const codes = issuedCodes(made, await loadRegistered(handler, userId));
    // After a crash before this, the session passes the second factor like any other session.
    await handler.handle(
      { aggregate: sessionAggregate, id: sessionId },
      { type: 'Strengthen', method: 'otp', refresh: null, now: context.time },
      context,
    );
    return codes;
  };
}
