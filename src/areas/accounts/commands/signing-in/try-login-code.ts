import type { LoginCodeRejection } from '../../domain/login-code/rejections.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Requester } from '../../../../validation/fields.js';
import { loginCodeAggregate, openIssues } from '../../domain/login-code/login-code.js';
import { userAggregate, type UserState } from '../../domain/user/user.js';
import { isRejection, TooManyAttempts } from '../../../shared/rejections.js';
import type { AccountTries, AccountTry } from './account-tries.js';

/** A code that was right, and is used up now. */
export interface UsedCode {
  readonly userId: string;
  /** Read before the code was used: an event that ends the user's sessions later also ends one that the code starts. */
  readonly user: UserState;
}

/**
 * Uses a mailed sign-in code of an address (docs/design.md#login-codes). Null: it is wrong, was used or tried too often,
 * or has expired. Each attempt counts, also without any code, so that no reply reveals an account.
 * @throws TooManyAttempts; StoreUnavailable; Overloaded
 */
export type TryLoginCode = (
  of: AccountTry & { /** Unchecked text. */ readonly code: string },
  context: CommandContext,
) => Promise<UsedCode | null>;

/** An issue without a code, so that every request compares twice. */
const noIssue = '00000000-0000-0000-0000-000000000000';

export function makeTryLoginCode({
  handler,
  loginCodes,
  codeTries,
}: Pick<AccountDeps, 'handler' | 'loginCodes'> & {
  readonly codeTries: AccountTries;
}): TryLoginCode {
  return async ({ code, ...of }, context) => {
    const check = (requester: Requester) => use({ ...of, code, requester }, context);
    const tried = await codeTries.run(of, check, context);
    if (tried.outcome === 'throttled') throw new TooManyAttempts(tried.retryAfterSeconds);
    return tried.outcome === 'passed' ? tried.value : null;
  };

  async function use(
    { emailDigest, code, requester }: AccountTry & { readonly code: string; readonly requester: Requester },
    context: CommandContext,
  ): Promise<UsedCode | null> {
    const { state } = await handler.load(loginCodeAggregate, emailDigest);
    const open = openIssues(state, requester, context.time);
    const compared = [0, 1].map((place) => {
      const { issueId, codeKeyId: kid } = open[place] ?? { issueId: noIssue, codeKeyId: loginCodes.active() };
      return { issueId, matches: loginCodes.matches({ kid, issueId, emailDigest }, code) };
    });
    const issue = open[compared.findIndex(({ matches }) => matches)] ?? open[0];
    if (issue === undefined) return null;
    const { state: user } = await handler.load(userAggregate, issue.userId);
    const target = { aggregate: loginCodeAggregate, id: emailDigest };
    try {
      // The attempt is appended before the reply, so the log decides which attempts are among the five.
      const command = { type: 'Use', requester, compared, now: context.time } as const;
      const { events } = await handler.handle(target, command, context);
      return events.some(({ type }) => type === 'LoginCodeUsed') ? { userId: issue.userId, user } : null;
    } catch (error) {
      // Another attempt used the code, or used up its attempts.
      if (isRejection<LoginCodeRejection>(error, 'login_code_refused')) return null;
      throw error;
    }
  }
}
