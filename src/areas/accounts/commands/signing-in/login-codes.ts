import type { AccountDeps } from '../../deps.js';
import { derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import type { Requester } from '../../../../validation/fields.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import { TooManyAttempts, isRejection, rejectUseCase } from '../../../shared/rejections.js';
import {
  type LoginCodeCommand,
  findIssue,
  isIssueOpen,
  loginCodeAggregate,
} from '../../domain/login-code/login-code.js';
import type { UserRejection } from '../../domain/user/rejections.js';
import { hasFactor, voidedBy } from '../../domain/factors/credentials.js';
import { userAggregate } from '../../domain/user/user.js';
import { loginCodeMessage } from '../../mail/messages.js';
import type { AccountGuard, KnownDevices } from './known-devices.js';
import type { EndGivenAccess } from '../erasing.js';
import { type Account, type FindAccount, checkAddress, refuseBanned } from '../finding.js';
import type { LoginInput, SignedIn } from './passwords.js';
import type { Sessions } from './sessions.js';
import type { CodeTry, TryLoginCode } from './try-login-code.js';

/** The least time from a request to its reply (src/areas/accounts/commands/README.md#login-codes). */
const replyAfterMs = 300;
/** A later reply leaves at a multiple of this time after the least time. */
const replyStepMs = 100;

/** The account or its address is gone. The reply does not say which. */
const refusals: readonly UserRejection[] = ['user_not_found', 'address_changed'];

/** A code to use up: unchecked text. */
type EmailCodeLoginInput = Omit<LoginInput, 'password'> & Pick<CodeTry, 'code'>;

/** Makes sign-in by mailed codes (src/areas/accounts/commands/README.md#login-codes). */
export function makeLoginCodeCommands(
  deps: Pick<AccountDeps, 'handler' | 'digests' | 'loginCodes' | 'clock' | 'users'> &
    Pick<Sessions, 'startSession'> & {
      readonly findAccount: FindAccount;
      readonly mailedCodeGuard: Pick<AccountGuard, 'hasFailures'>;
      readonly tryLoginCode: TryLoginCode;
      readonly knownDevices: Pick<KnownDevices, 'complete'>;
      readonly endGivenAccess: EndGivenAccess;
    },
) {
  const { handler, findAccount, digests, mailedCodeGuard, loginCodes, clock } = deps;
  const { tryLoginCode, knownDevices, users, startSession, endGivenAccess } = deps;
  return {
    /**
     * Sends a sign-in code. The reply leaves when the log has the code, so that no crash loses an acknowledged one. Neither
     * the reply nor its time reveals an account: for every address the service makes the same store calls, and appends one
     * event. The reply waits for the next step of time, which hides the few ms that a busy stream costs. A code is mailed
     * after the append, and the append comes last, so the mail does not delay the reply. Known devices have separate
     * codes and limits, which no other client can use up.
     * @returns `data` of the reply, the same for every address
     * @throws CommandRejected invalid_request; StoreUnavailable and Overloaded, which do not depend on the account
     */
    sendEmailCode: async (
      { email, known = null }: { readonly email: string; readonly known?: KnownDevice | null },
      context: CommandContext,
    ) => {
      const email_digest = digests.email(checkAddress(email).canonical);
      const startedMs = clock.steadyMs();
      const [account, isGuessedAt] = await Promise.all([
        findAccount(email_digest),
        mailedCodeGuard.hasFailures(email_digest),
        clock.sleep(replyAfterMs),
      ]);
      const requester = known === null ? 'unknown' : 'known';
      const asked = { requester, now: clock.now() } as const;
      const command: LoginCodeCommand =
        account === null
          ? { type: 'Withhold', ...asked }
          : issueFor(account, context, { ...asked, isGuessedAt });
      await handler.handle(loginCodeAggregate.at(email_digest), command, context);
      const lateMs = Math.max(0, clock.steadyMs() - startedMs - replyAfterMs);
      await clock.sleep(Math.ceil(lateMs / replyStepMs) * replyStepMs - lateMs);
      return { expires_in: mailedCode.lifeSeconds, resend_after: mailedCode.resendSeconds };
    },
    /**
     * Signs in by a mailed code, which also verifies the address. The first code that verifies an address voids all that the account held
     * before, and ends the access that it gave (see `EndGivenAccess`), because its maker never proved the address. All refusals have the
     * same text and come at the earliest 300 ms after the request began.
     * @throws CommandRejected invalid_request, credentials_refused, account_banned after the right code; TooManyAttempts;
     * Overloaded
     */
    loginByEmailCode: async (
      { email, code, client, userAgent }: EmailCodeLoginInput,
      context: CommandContext,
    ): Promise<SignedIn> => {
      const releaseMs = clock.steadyMs() + replyAfterMs;
      const untilRelease = () => clock.sleep(Math.max(0, releaseMs - clock.steadyMs()));
      const email_digest = digests.email(checkAddress(email).canonical);
      const user = await prove({ email_digest, code, client }, context).catch(async (error: unknown) => {
        if (isRejection<UserRejection>(error, ...refusals)) return null;
        if (error instanceof TooManyAttempts) await untilRelease();
        throw error;
      });
      if (user === null) {
        await untilRelease();
        return refuse();
      }
      const { userId, epoch } = user;
      const { known } = client;
      const session = { userId, epoch, methods: ['email'], client, userAgent, device_id: known?.id } as const;
      const { tokens, device_id } = await startSession(session, context);
      // With a second factor on, only that completes the sign-in.
      const isComplete = !user.hasSecondFactor;
      const deviceToken = isComplete
        ? await knownDevices.complete({ userId, epoch }, device_id, known)
        : null;
      const found = await users.find(userId);
      return found === null ? refuse() : { user: found.resource, tokens, deviceToken };
    },
  };

  function issueFor(
    { userId, user }: Account,
    context: CommandContext,
    asked: { readonly requester: Requester; readonly isGuessedAt: boolean; readonly now: Date },
  ): LoginCodeCommand {
    return {
      type: 'Issue',
      ...asked,
      issue_id: derivedId(context, 'login-code'),
      user_id: userId,
      // The user's spelling, already sealed.
      email: user.email,
      code_key_id: loginCodes.active(),
      expires_at: new Date(asked.now.getTime() + mailedCode.lifeSeconds * 1_000).toISOString(),
    };
  }

  /** Uses the code; null when it is wrong. */
  async function prove(of: CodeTry, context: CommandContext) {
    const used = await tryLoginCode(of, context);
    if (used === null) return null;
    const { userId, user } = used;
    if (user.status === 'registered') refuseBanned(user);
    const proof = { type: 'ProveEmail', email_digest: of.email_digest } as const;
    const { events } = await handler.handle(userAggregate.at(userId), proof, context, {
      revokesAccess: true,
    });
    if (user.status !== 'registered') return null;
    // The first proof ends all earlier sessions, but not this one.
    const isFirst = events.some((event) => voidedBy(event).length > 0);
    if (!isFirst) return { userId, epoch: user.epoch, hasSecondFactor: hasFactor(user) };
    // From here on, a reaction does it if this process crashes.
    await endGivenAccess({ userId }, context);
    return { userId, epoch: user.epoch + 1, hasSecondFactor: false };
  }
}

function refuse(): never {
  return rejectUseCase(
    'credentials_refused',
    'the code is wrong, was used, or is not valid any more; ask for another',
  );
}

/**
 * Mails each code that signs in, until it expires. It mails nothing when the code was mailed, used, tried too often or
 * replaced by a later one, or when the person is erased.
 */
export function mailLoginCodes(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'loginCodes' | 'strongLoginCodes' | 'clock'>,
) {
  const { handler, sealer, loginCodes, strongLoginCodes, clock, publicUrl } = deps;
  return makeMailReaction(deps, loginCodeAggregate, ['LoginCodeIssued'], {
    name: 'mail-login-codes',
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (email_digest, event) => {
      const { issue_id, user_id: userId, code_key_id: kid, email } = event.data;
      const { state } = await handler.load(loginCodeAggregate, email_digest);
      const issue = findIssue(state, issue_id);
      if (issue === null || issue.mailed || !isIssueOpen(issue, issue.requester, clock.now())) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', email);
      const codes = event.data.strong ? strongLoginCodes : loginCodes;
      const code = codes.codeFor({ kid, issue_id, email_digest });
      const message = loginCodeMessage({ code, expires_at: issue.expires_at, publicUrl });
      return { to, person: userId, ...message };
    },
    record: (id, { data: { issue_id } }, outcome, context) =>
      handler.handle(loginCodeAggregate.at(id), { type: 'MarkMailed', issue_id, outcome }, context),
  });
}
