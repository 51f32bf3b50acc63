import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { isStrongCode } from '../../../../keys/codes/login-codes.js';
import { parseSixDigits } from '../../../../keys/codes/agent-secrets.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import type { Requester } from '../../../../validation/fields.js';
import { whenRejected } from '../../../shared/rejections.js';
import {
  type LoginCodeCommand,
  type LoginCodeIssue,
  type LoginCodeRejection,
  loginCodeAggregate,
  openIssues,
  openStrong,
} from '../../domain/login-code/login-code.js';
import { type UserState, userAggregate } from '../../domain/user/user.js';
import type { AccountGuard } from './known-devices.js';

/** A code that was right, and is used up now. */
interface UsedCode {
  readonly userId: string;
  /** Read before the code was used: an event that ends the user's sessions later also ends one that the code starts. */
  readonly user: UserState;
}

/**
 * Uses a mailed sign-in code of an address (src/areas/accounts/commands/README.md#login-codes). Null: it is wrong, was used or tried too often,
 * or has expired. Each attempt counts, also without any code, so that no reply reveals an account. A text with the form of a code of
 * 100 bits is too long to guess: it counts nowhere, and only a right one is appended.
 * @throws TooManyAttempts; StoreUnavailable; Overloaded
 */
export type TryLoginCode = (of: CodeTry, context: CommandContext) => Promise<UsedCode | null>;

export interface CodeTry {
  /** Of the account's present address. An address without an account counts alike. */
  readonly email_digest: string;
  readonly client: TryingClient;
  /** Unchecked text. */
  readonly code: string;
}

/** Returns whether a text has the form of a code that signs in. */
export function isSignInCode(text: string): boolean {
  return parseSixDigits(text) !== null || isStrongCode(text);
}

/** An issue without a code, so that every request compares twice. */
const noIssue = '00000000-0000-0000-0000-000000000000';

export function makeTryLoginCode(
  deps: Pick<AccountDeps, 'handler' | 'loginCodes' | 'strongLoginCodes'> & {
    readonly mailedCodeGuard: AccountGuard;
  },
): TryLoginCode {
  const { handler, loginCodes, strongLoginCodes, mailedCodeGuard } = deps;
  const useStrong: TryLoginCode = async ({ email_digest, code }, context) => {
    const { state } = await handler.load(loginCodeAggregate, email_digest);
    const issue = openStrong(state, context.time).find(({ issue_id, code_key_id: kid }) =>
      strongLoginCodes.matches({ kid, issue_id, email_digest }, code),
    );
    if (issue === undefined) return null;
    const command = { type: 'UseStrong', issue_id: issue.issue_id, now: context.time } as const;
    return used(email_digest, issue, command, context);
  };
  const use: TryLoginCode = async ({ email_digest, client, code }, context) => {
    const requester: Requester = client.known === null ? 'unknown' : 'known';
    const { state } = await handler.load(loginCodeAggregate, email_digest);
    const open = openIssues(state, requester, context.time);
    const compared = [0, 1].map((place) => {
      const { issue_id, code_key_id: kid } = open[place] ?? {
        issue_id: noIssue,
        code_key_id: loginCodes.active(),
      };
      return { issue_id, matches: loginCodes.matches({ kid, issue_id, email_digest }, code) };
    });
    const issue = open[compared.findIndex(({ matches }) => matches)] ?? open[0];
    if (issue === undefined) return null;
    // The attempt is appended before the reply, so the log decides which attempts are among the five.
    return used(email_digest, issue, { type: 'Use', requester, compared, now: context.time }, context);
  };
  return (tried, context) => {
    if (isStrongCode(tried.code)) return useStrong(tried, context);
    const of = { subject: tried.email_digest, client: tried.client };
    return mailedCodeGuard.run(of, () => use(tried, context), context);
  };

  async function used(
    email_digest: string,
    issue: LoginCodeIssue,
    command: LoginCodeCommand,
    context: CommandContext,
  ): ReturnType<TryLoginCode> {
    const { state: user } = await handler.load(userAggregate, issue.user_id);
    const handled = await handler
      .handle(loginCodeAggregate.at(email_digest), command, context)
      // Another attempt used the code, or used up its attempts.
      .catch(whenRejected<LoginCodeRejection>('login_code_refused')(() => null));
    const isUsed = handled?.events.some(({ type }) => type === 'LoginCodeUsed');
    return isUsed === true ? { userId: issue.user_id, user } : null;
  }
}
