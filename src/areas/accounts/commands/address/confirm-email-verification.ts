import type { AccountDeps } from '../../deps.js';
import { parseSixDigits } from '../../../../keys/codes/typed-code.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { nextEmailVerificationAt } from '../../domain/user/email-verification.js';
import { rejectUser, type UserRejection } from '../../domain/user/rejections.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import { isRejection, TooManyAttempts } from '../../../shared/rejections.js';
import { loadRegistered } from '../registering/registered-user.js';

export interface ConfirmEmailVerificationInput {
  readonly userId: string;
  /** The caller's session. */
  readonly session: { readonly id: string; readonly epoch: number };
  /** Unchecked text. */
  readonly code: string;
}

/**
 * Proves the address of the account by the code that was mailed there, and voids nothing: src/areas/accounts/commands/README.md#proof-of-an-address.
 * Each of the five attempts is counted before the comparison, but a text that cannot be a code is none. A proved address stays proved with any code.
 * @throws CommandRejected email_verification_not_pending, email_verification_code_refused, session_ended,
 * user_not_found; TooManyAttempts; Overloaded
 */
export type ConfirmEmailVerification = (
  input: ConfirmEmailVerificationInput,
  context: CommandContext,
) => Promise<void>;

export function makeConfirmEmailVerification({
  handler,
  verificationCodes,
}: Pick<AccountDeps, 'handler' | 'verificationCodes'>): ConfirmEmailVerification {
  return async ({ userId, session, code }, context) => {
    const user = await loadRegistered(handler, userId);
    if (user.email_verified) return;
    const { verification } = user;
    if (verification === null) {
      return rejectUser('email_verification_not_pending', 'no code was mailed to the address; ask for one');
    }
    if (parseSixDigits(code) === null) refuseCode();
    const { verificationId, codeKeyId, emailDigest } = verification;
    const target = { aggregate: userAggregate, id: userId };
    const attempt = { type: 'AttemptEmailVerification', verificationId, now: context.time } as const;
    await handler.handle(target, attempt, context).catch((error: unknown) => {
      // This code stays refused, so the reply says when the client may request another.
      if (isRejection<UserRejection>(error, 'code_attempts_used'))
        throw verificationUsedUp(user, context.time);
      throw error;
    });
    if (!verificationCodes.matches({ kid: codeKeyId, issueId: verificationId, emailDigest }, code))
      refuseCode();
    const proof = { type: 'ProveEmailInSession', verificationId, session } as const;
    await handler.handle(target, proof, stepContext(context, 'prove-email'));
  };
}

function refuseCode(): never {
  return rejectUser('email_verification_code_refused', 'code is not the one that was mailed');
}

function verificationUsedUp(user: RegisteredUser, now: Date): TooManyAttempts {
  const waitMs = (nextEmailVerificationAt(user, now)?.getTime() ?? now.getTime()) - now.getTime();
  return new TooManyAttempts(Math.ceil(waitMs / 1_000), 'the code was tried too often; ask for another');
}
