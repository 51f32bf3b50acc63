import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { isIssueOpen, loginCodeAggregate, type LoginCodeIssue } from '../../domain/login-code/login-code.js';
import { userAggregate } from '../../domain/user/user.js';
import type { EndGivenAccess } from './end-given-access.js';
import { refuseBanned } from './registered-user.js';
import { checkAddress } from '../shared/check-address.js';
import type { SignedIn } from './login.js';
import { isRejection, type Rejection, rejectUseCase } from '../shared/rejections.js';
import { replyAfterMs } from './send-email-code.js';
import type { StartSession } from './start-session.js';

export interface EmailCodeLoginInput {
  readonly email: string;
  /** Unchecked text. */
  readonly code: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

/**
 * Signs in by a mailed code, which also verifies the address (docs/design.md#login-codes). The first code that verifies
 * an address voids all that the account held before, and ends the access that it gave (see `EndGivenAccess`), because
 * its maker never proved the address. All refusals have the same text and come at the earliest 300 ms after the request began.
 * @throws CommandRejected invalid_request, credentials_refused, account_banned after the right code; Overloaded
 */
export type LoginByEmailCode = (input: EmailCodeLoginInput, context: CommandContext) => Promise<SignedIn>;

/** An issue without a code, so that every request compares. */
const noIssue = '00000000-0000-0000-0000-000000000000';

/** The code, its account or its address is gone. The reply does not say which. */
const refusals: readonly Rejection[] = ['login_code_refused', 'user_not_found', 'address_changed'];

export function makeLoginByEmailCode({
  handler,
  digests,
  loginCodes,
  clock,
  users,
  startSession,
  endGivenAccess,
}: Pick<Deps, 'handler' | 'digests' | 'loginCodes' | 'clock' | 'users'> & {
  readonly startSession: StartSession;
  readonly endGivenAccess: EndGivenAccess;
}): LoginByEmailCode {
  return async ({ email, code, clientIp, userAgent }, context) => {
    const releaseMs = clock.now().getTime() + replyAfterMs;
    const emailDigest = digests.email(checkAddress(email).canonical);
    const user = await prove(emailDigest, code, context).catch((error: unknown) => {
      if (refusals.some((refusal) => isRejection(error, refusal))) return null;
      throw error;
    });
    if (user === null) {
      await clock.sleep(Math.max(0, releaseMs - clock.now().getTime()));
      return refuse();
    }
    const tokens = await startSession({ ...user, methods: ['email'], clientIp, userAgent }, context);
    const found = await users.find(user.userId);
    return found === null ? refuse() : { user: found.resource, tokens };
  };

  /** Uses the code; null when it is wrong. */
  async function prove(
    emailDigest: string,
    code: string,
    context: CommandContext,
  ): Promise<{ readonly userId: string; readonly epoch: number } | null> {
    const { state } = await handler.load(loginCodeAggregate, emailDigest);
    const issue = state.issue !== null && isIssueOpen(state.issue, context.time) ? state.issue : null;
    const matches = compare(issue, emailDigest, code);
    if (issue === null) return null;
    // The epoch is read before the code is used: an event that ends the user's sessions later also ends this one.
    const { state: user } = await handler.load(userAggregate, issue.userId);
    // The attempt is appended before the reply, so the log decides which attempts are among the five.
    await handler.handle(
      { aggregate: loginCodeAggregate, id: emailDigest },
      { type: 'Use', issueId: issue.issueId, matches, now: context.time },
      context,
    );
    if (!matches) return null;
    if (user.status === 'registered') refuseBanned(user);
    const target = { aggregate: userAggregate, id: issue.userId };
    const proof = { type: 'ProveEmail', emailDigest } as const;
    const { events } = await handler.handle(target, proof, context, { revokesAccess: true });
    if (user.status !== 'registered') return null;
    // CredentialsVoided ends all earlier sessions, but not this one.
    const voided = events.some(({ type }) => type === 'CredentialsVoided');
    // From here on, a reaction does it if this process crashes.
    if (voided) await endGivenAccess({ userId: issue.userId }, context);
    return { userId: issue.userId, epoch: voided ? user.epoch + 1 : user.epoch };
  }

  function compare(issue: LoginCodeIssue | null, emailDigest: string, code: string): boolean {
    const kid = issue?.codeKeyId ?? loginCodes.active();
    return loginCodes.matches({ kid, issueId: issue?.issueId ?? noIssue, emailDigest }, code);
  }
}

function refuse(): never {
  return rejectUseCase(
    'credentials_refused',
    'the code is wrong, was used, or is not valid any more; ask for another',
  );
}
