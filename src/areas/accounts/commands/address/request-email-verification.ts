import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { nextEmailVerificationAt } from '../../domain/user/email-verification.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { rejectUseCase, TooManyAttempts } from '../../../shared/rejections.js';
import type { EmailVerificationIssues } from './email-verification-issues.js';
import { loadRegistered } from '../registering/registered-user.js';

export { emailVerificationSeconds } from '../../domain/user/email-verification.js';

/**
 * Mails another code that proves the address of the account (src/areas/accounts/commands/README.md#proof-of-an-address). It ends the code
 * before it.
 * @throws CommandRejected mail_not_configured, address_proved, email_verification_too_soon, address_changed,
 * user_not_found; TooManyAttempts
 */
export type RequestEmailVerification = (
  input: { readonly userId: string },
  context: CommandContext,
) => Promise<void>;

export function makeRequestEmailVerification({
  handler,
  verificationIssues,
  mailConfigured,
}: Pick<AccountDeps, 'handler' | 'mailConfigured'> & {
  readonly verificationIssues: EmailVerificationIssues;
}): RequestEmailVerification {
  return async ({ userId }, context) => {
    if (!mailConfigured) {
      rejectUseCase('mail_not_configured', 'mail is not configured, so no code can be sent');
    }
    const user = await loadRegistered(handler, userId);
    const issue = verificationIssues.issue(context);
    if (user.verification?.verificationId === issue.verificationId) return;
    if (user.email_verified) rejectUser('address_proved', 'the address is verified already');
    // `decide` rejects an early request too, but without the time to wait.
    const next = nextEmailVerificationAt(user, context.time);
    if (next !== null) throw tooMany((next.getTime() - context.time.getTime()) / 1_000);
    const verdict = await verificationIssues.count(user.email_digest);
    if (!verdict.allowed) throw tooMany(verdict.retryAfterSeconds);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'RequestEmailVerification', emailDigest: user.email_digest, issue, now: context.time },
      context,
    );
  };
}

function tooMany(waitSeconds: number): TooManyAttempts {
  return new TooManyAttempts(
    Math.ceil(waitSeconds),
    'too many codes were asked for; wait before you ask for another',
  );
}
