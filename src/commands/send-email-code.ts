import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import { loginCodeAggregate } from '../domain/login-code/login-code.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { Background } from './background.js';
import { checkAddress } from './check-address.js';
import type { Account, FindAccount } from './find-account.js';

/** `data` of the reply (DESIGN 4.1), in seconds; the same for every address. */
export type EmailCodeSent = { readonly expires_in: number; readonly resend_after: number };

/**
 * Sends a code that signs in. Neither the reply nor its time tells whether there is an account: it leaves 300 ms after the request
 * began, and what only accounts need is done later.
 * @throws CommandRejected invalid_request; StoreUnavailable and Overloaded, which do not depend on the account
 */
export type SendEmailCode = (
  input: { readonly email: string },
  context: CommandContext,
) => Promise<EmailCodeSent>;

/** DESIGN 4.1: seconds that a code lives, and after which another may be asked for. */
export const loginCodeSeconds = 600;
const resendSeconds = 60;

/** DESIGN 3, Login codes. */
export const replyAfterMs = 300;

/** Late enough that not even the first steps stand before the reply. */
const issueAfterMs = replyAfterMs + 50;

export function makeSendEmailCode({
  handler,
  findAccount,
  digests,
  loginCodes,
  clock,
  background,
}: {
  readonly handler: CommandHandler;
  readonly findAccount: FindAccount;
  readonly digests: Pick<Digests, 'email'>;
  readonly loginCodes: Pick<MailedCodes, 'active'>;
  readonly clock: Clock;
  readonly background: Background;
}): SendEmailCode {
  return async ({ email }, context) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    background.start('a login code could not be issued', async () => {
      await clock.sleep(issueAfterMs);
      const account = await findAccount(emailDigest);
      if (account !== null) await issue(emailDigest, account, context);
    });
    const released = clock.sleep(replyAfterMs);
    // A store that is away is told of, for any address; a slow one is not waited for.
    await Promise.race([released, findAccount(emailDigest).then(() => released)]);
    return { expires_in: loginCodeSeconds, resend_after: resendSeconds };
  };

  async function issue(
    emailDigest: string,
    { userId, user }: Account,
    context: CommandContext,
  ): Promise<void> {
    const now = clock.now();
    await handler.handle(
      { aggregate: loginCodeAggregate, id: emailDigest },
      {
        type: 'Issue',
        issueId: derivedId(context, 'login-code'),
        userId,
        // As the user spells it, and sealed for them already.
        email: user.email,
        codeKeyId: loginCodes.active(),
        expiresAt: new Date(now.getTime() + loginCodeSeconds * 1_000),
        now,
      },
      context,
    );
  }
}
