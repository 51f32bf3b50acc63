import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import { loginCodeAggregate, type LoginCodeCommand } from '../../domain/login-code/login-code.js';
import { checkAddress } from '../address/check-address.js';
import type { AccountGuard } from './account-guard.js';
import type { Account, FindAccount } from './find-account.js';
import type { Requester } from '../../../../validation/fields.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';

/** `data` of the reply, in seconds (src/areas/accounts/commands/README.md#email-codes). It is the same for every address. */
export type EmailCodeSent = { readonly expires_in: number; readonly resend_after: number };

/**
 * Sends a sign-in code. The reply leaves when the log has the code, so that no crash loses an acknowledged one. Neither
 * the reply nor its time reveals an account: for every address the service makes the same store calls, and appends one
 * event. The reply waits for the next step of time, which hides the few ms that a busy stream costs. A code is mailed
 * after the append, and the append comes last, so the mail does not delay the reply. Known devices have separate
 * codes and limits, which no other client can use up.
 * @throws CommandRejected invalid_request; StoreUnavailable and Overloaded, which do not depend on the account
 */
export type SendEmailCode = (
  input: {
    readonly email: string;
    /** The device of the client, if the account knows it. */ readonly known?: KnownDevice | null;
  },
  context: CommandContext,
) => Promise<EmailCodeSent>;

/** The life of a code, and the time after which the client may request another (src/areas/accounts/commands/README.md#email-codes). */
export const loginCodeSeconds = mailedCode.lifeSeconds;
const resendSeconds = 60;

/** The least time from a request to its reply (src/areas/accounts/commands/README.md#login-codes). */
export const replyAfterMs = 300;
/** A later reply leaves at a multiple of this time after the least time. */
const replyStepMs = 100;

export function makeSendEmailCode({
  handler,
  findAccount,
  digests,
  mailedCodeGuard,
  loginCodes,
  clock,
}: Pick<AccountDeps, 'handler' | 'digests' | 'loginCodes' | 'clock'> & {
  readonly findAccount: FindAccount;
  readonly mailedCodeGuard: Pick<AccountGuard, 'hasFailures'>;
}): SendEmailCode {
  return async ({ email, known = null }, context) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const startedMs = clock.now().getTime();
    const [account, isGuessedAt] = await Promise.all([
      findAccount(emailDigest),
      mailedCodeGuard.hasFailures(emailDigest),
      clock.sleep(replyAfterMs),
    ]);
    const requester = known === null ? 'unknown' : 'known';
    const asked = { requester, now: clock.now() } as const;
    const command: LoginCodeCommand =
      account === null
        ? { type: 'Withhold', ...asked }
        : issueFor(account, context, { ...asked, isGuessedAt });
    await handler.handle({ aggregate: loginCodeAggregate, id: emailDigest }, command, context);
    const lateMs = Math.max(0, clock.now().getTime() - startedMs - replyAfterMs);
    await clock.sleep(Math.ceil(lateMs / replyStepMs) * replyStepMs - lateMs);
    return { expires_in: loginCodeSeconds, resend_after: resendSeconds };
  };

  function issueFor(
    { userId, user }: Account,
    context: CommandContext,
    asked: { readonly requester: Requester; readonly isGuessedAt: boolean; readonly now: Date },
  ): LoginCodeCommand {
    return {
      type: 'Issue',
      ...asked,
      issueId: derivedId(context, 'login-code'),
      userId,
      // The user's spelling, already sealed.
      email: user.email,
      codeKeyId: loginCodes.active(),
      expiresAt: new Date(asked.now.getTime() + loginCodeSeconds * 1_000),
    };
  }
}
