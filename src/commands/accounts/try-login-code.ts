import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { isIssueOpen, loginCodeAggregate, type LoginCodeIssue } from '../../domain/login-code/login-code.js';
import { userAggregate, type UserState } from '../../domain/user/user.js';
import { isRejection } from '../shared/rejections.js';

/** A code that was right, and is used up now. */
export interface UsedCode {
  readonly userId: string;
  /** Read before the code was used: an event that ends the user's sessions later also ends one that the code starts. */
  readonly user: UserState;
}

/**
 * Uses a mailed sign-in code of an address (docs/design.md#login-codes). Null: it is wrong, was used or tried too often,
 * or has expired. @throws StoreUnavailable; Overloaded
 */
export type TryLoginCode = (
  of: {
    readonly emailDigest: string;
    /** In canonical spelling. */
    readonly clientIp: string;
    /** Unchecked text. */
    readonly code: string;
  },
  context: CommandContext,
) => Promise<UsedCode | null>;

/** An issue without a code, so that every request compares. */
const noIssue = '00000000-0000-0000-0000-000000000000';

export function makeTryLoginCode({
  handler,
  loginCodes,
}: Pick<Deps, 'handler' | 'loginCodes'>): TryLoginCode {
  return async ({ emailDigest, code }, context) => {
    const { state } = await handler.load(loginCodeAggregate, emailDigest);
    const issue = state.issue !== null && isIssueOpen(state.issue, context.time) ? state.issue : null;
    const matches = compare(issue, emailDigest, code);
    if (issue === null) return null;
    const { state: user } = await handler.load(userAggregate, issue.userId);
    // The attempt is appended before the reply, so the log decides which attempts are among the five.
    const target = { aggregate: loginCodeAggregate, id: emailDigest };
    const command = { type: 'Use', issueId: issue.issueId, matches, now: context.time } as const;
    try {
      await handler.handle(target, command, context);
    } catch (error) {
      // Another attempt used the code, or used up its attempts.
      if (isRejection(error, 'login_code_refused')) return null;
      throw error;
    }
    return matches ? { userId: issue.userId, user } : null;
  };

  function compare(issue: LoginCodeIssue | null, emailDigest: string, code: string): boolean {
    const kid = issue?.codeKeyId ?? loginCodes.active();
    return loginCodes.matches({ kid, issueId: issue?.issueId ?? noIssue, emailDigest }, code);
  }
}
