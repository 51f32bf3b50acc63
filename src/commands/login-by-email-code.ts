import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { isOpen, loginCodeAggregate, type LoginCodeIssue } from '../domain/login-code/login-code.js';
import { userAggregate } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { UserReader } from '../../projections/users/reader.js';
import { checkAddress } from './check-address.js';
import type { SignedIn } from './login.js';
import { isRejection, type Rejection, rejectUseCase } from './rejections.js';
import { replyAfterMs } from './send-email-code.js';
import type { StartSession } from './start-session.js';

export interface EmailCodeLoginInput {
  readonly email: string;
  /** As it was typed. */
  readonly code: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** What the client calls itself; null where it says nothing. */
  readonly userAgent: string | null;
}

/**
 * Signs in by a mailed code, which verifies the address too (DESIGN 3, Login codes). The first one voids the password, the
 * sessions and the second factor of before: whoever set these up has never shown that the address is theirs. Whatever is wrong is refused with the same
 * words, no earlier than 300 ms after the request began.
 * @throws CommandRejected invalid_request, credentials_refused; Overloaded
 */
export type LoginByEmailCode = (input: EmailCodeLoginInput, context: CommandContext) => Promise<SignedIn>;

/** An issue that no code belongs to, so that there is always one to compare with. */
const noIssue = '00000000-0000-0000-0000-000000000000';

/** The code, its account or the account's address have gone: nothing is to be told. */
const refusals: readonly Rejection[] = ['login_code_refused', 'user_not_found', 'address_changed'];

export function makeLoginByEmailCode({
  handler,
  digests,
  loginCodes,
  clock,
  users,
  startSession,
}: {
  readonly handler: CommandHandler;
  readonly digests: Pick<Digests, 'email'>;
  readonly loginCodes: Pick<MailedCodes, 'active' | 'matches'>;
  readonly clock: Clock;
  readonly users: Pick<UserReader, 'find'>;
  readonly startSession: StartSession;
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

  /** Uses the code up; null when it is wrong. */
  async function prove(
    emailDigest: string,
    code: string,
    context: CommandContext,
  ): Promise<{ readonly userId: string; readonly epoch: number } | null> {
    const { state } = await handler.load(loginCodeAggregate, emailDigest);
    const issue = state.issue !== null && isOpen(state.issue, context.time) ? state.issue : null;
    const matches = compare(issue, emailDigest, code);
    if (issue === null) return null;
    // The epoch of before the code was used: what ends sessions after that ends this one, too.
    const { state: user } = await handler.load(userAggregate, issue.userId);
    // A right code is used up, and a wrong one counted, before anybody is told: the log decides which tries are among the five.
    await handler.handle(
      { aggregate: loginCodeAggregate, id: emailDigest },
      { type: 'Use', issueId: issue.issueId, matches, now: context.time },
      context,
    );
    if (!matches) return null;
    const target = { aggregate: userAggregate, id: issue.userId };
    const proof = { type: 'ProveEmail', emailDigest } as const;
    const { events } = await handler.handle(target, proof, context, { revokesAccess: true });
    if (user.status !== 'registered') return null;
    // The first proof ends all sessions but the one that it begins.
    const voided = events.some(({ type }) => type === 'CredentialsVoided');
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
