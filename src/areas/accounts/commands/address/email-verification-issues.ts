import type { AccountDeps } from '../../deps.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { emailVerificationSeconds, type VerificationIssue } from '../../domain/user/email-verification.js';
import { makeSharedRateLimiter, type SharedVerdict } from '../../../../security/rates/shared-rate-limit.js';

/** Makes the codes that prove the address of an account (src/areas/accounts/commands/README.md#proof-of-an-address). */
export interface EmailVerificationIssues {
  /**
   * Counts a mail to the address. The count is one of the address, so that no number of accounts, one after the other,
   * makes the service mail a stranger without end. @throws StoreUnavailable; Overloaded
   */
  count(emailDigest: string): Promise<SharedVerdict<'verification_address'>>;
  /** Returns the code of the command; a repeated command makes the same. */
  issue(context: CommandContext): VerificationIssue;
}

export function makeEmailVerificationIssues(
  deps: Pick<AccountDeps, 'stateStore' | 'digests' | 'clock' | 'verificationCodes' | 'verificationLimits'>,
): EmailVerificationIssues {
  const limiter = makeSharedRateLimiter({ ...deps, limits: deps.verificationLimits });
  return {
    count: (emailDigest) => limiter.take([{ name: 'verification_address', key: emailDigest }]),
    issue: (context) => ({
      verificationId: derivedId(context, 'email-verification'),
      codeKeyId: deps.verificationCodes.active(),
      expiresAt: new Date(context.time.getTime() + emailVerificationSeconds * 1_000),
    }),
  };
}
