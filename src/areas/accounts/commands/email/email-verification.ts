import type { RequestSession } from '../../domain/guard.js';
import type { AccountDeps } from '../../deps.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { parseSixDigits } from '../../../../keys/codes/agent-secrets.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import { makeSharedRateLimiter } from '../../../../security/rates/shared-rate-limit.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import { TooManyAttempts, rejectUseCase, whenRejected } from '../../../shared/rejections.js';
import {
  type VerificationIssue,
  emailVerificationSeconds,
  nextEmailVerificationAt,
} from '../../domain/user/email-verification.js';
import { type UserRejection, rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { emailVerificationMessage } from '../../mail/messages.js';
import { loadRegistered } from '../finding.js';

/** A code that a session presents for an address. */
export interface PresentedCode {
  readonly userId: string;
  readonly session: RequestSession;
  readonly code: string;
}

export type VerificationIssues = ReturnType<typeof makeVerificationIssues>;

/** Makes the codes that prove the address of an account (src/areas/accounts/commands/README.md#proof-of-an-address). */
export function makeVerificationIssues(deps: AccountDeps) {
  const limiter = makeSharedRateLimiter({ ...deps, limits: deps.verificationLimits });
  return {
    /**
     * Counts a mail to the address. The count is one of the address, so that no number of accounts, one after the other,
     * makes the service mail a stranger without end. @throws StoreUnavailable; Overloaded
     */
    count: (email_digest: string) => limiter.take([{ name: 'verification_address', key: email_digest }]),
    /** Returns the code of the command; a repeated command makes the same. */
    issue: (context: CommandContext): VerificationIssue => ({
      verification_id: derivedId(context, 'email-verification'),
      code_key_id: deps.verificationCodes.active(),
      expires_at: new Date(context.time.getTime() + emailVerificationSeconds * 1_000).toISOString(),
    }),
  };
}

/** Makes the use cases of a mailed code that proves the address of an account in a session. */
export function makeEmailVerificationCommands(
  deps: AccountDeps & { readonly verificationIssues: VerificationIssues },
) {
  const { handler, verificationIssues, verificationCodes, mailConfigured } = deps;
  const terms = { expires_in: emailVerificationSeconds, resend_after: mailedCode.resendSeconds };
  return {
    /**
     * Mails another code. It ends the code before it. Returns its life, and when another may be asked for, in seconds.
     * @throws CommandRejected mail_not_configured, address_proved, email_verification_too_soon, address_changed,
     * user_not_found; TooManyAttempts
     */
    requestEmailVerification: async ({ userId }: { userId: string }, context: CommandContext) => {
      if (!mailConfigured)
        rejectUseCase('mail_not_configured', 'mail is not configured, so no code can be sent');
      const user = await loadRegistered(handler, userId);
      const issue = verificationIssues.issue(context);
      if (user.verification?.verification_id === issue.verification_id) return terms;
      if (user.email_verified) rejectUser('address_proved', 'the address is verified already');
      // `decide` rejects an early request too, but without the time to wait.
      const next = nextEmailVerificationAt(user, context.time);
      if (next !== null) throw tooMany((next.getTime() - context.time.getTime()) / 1_000);
      const verdict = await verificationIssues.count(user.email_digest);
      if (!verdict.allowed) throw tooMany(verdict.retryAfterSeconds);
      const asked = { email_digest: user.email_digest, issue, now: context.time };
      const request = { type: 'RequestEmailVerification', ...asked } as const;
      await handler.handle(userAggregate.at(userId), request, context);
      return terms;
    },
    /**
     * Proves the address, and voids nothing. Each of the five attempts is counted before the comparison, but a text that cannot be a code is
     * none. A proved address stays proved with any code. @param code unchecked text
     * @throws CommandRejected email_verification_not_pending, email_verification_code_refused, session_ended,
     * user_not_found; TooManyAttempts; Overloaded
     */
    confirmEmailVerification: async (
      { userId, session, code }: PresentedCode,
      context: CommandContext,
    ): Promise<void> => {
      const user = await loadRegistered(handler, userId);
      if (user.email_verified) return;
      const { verification } = user;
      if (verification === null)
        return rejectUser('email_verification_not_pending', 'no code was mailed to the address; ask for one');
      if (parseSixDigits(code) === null) refuseCode();
      const { verification_id, code_key_id, email_digest } = verification;
      const target = userAggregate.at(userId);
      const attempt = { type: 'AttemptEmailVerification', verification_id, now: context.time } as const;
      const usedUp = whenUsedUp(nextEmailVerificationAt(user, context.time), context.time);
      await handler.handle(target, attempt, context).catch(usedUp);
      if (!verificationCodes.matches({ kid: code_key_id, issue_id: verification_id, email_digest }, code))
        refuseCode();
      const proof = { type: 'ProveEmailInSession', verification_id, session } as const;
      await handler.handle(target, proof, stepContext(context, 'prove-email'));
    },
  };
}

function refuseCode(): never {
  return rejectUser('email_verification_code_refused', 'code is not the one that was mailed');
}

/** Makes the error of a request for a code that comes too early. */
export function tooMany(waitSeconds: number): TooManyAttempts {
  return new TooManyAttempts(
    Math.ceil(waitSeconds),
    'too many codes were asked for; wait before you ask for another',
  );
}

/** Makes the handler of an attempt at a code that was tried too often. It stays refused, so the error says when the client may request another. */
export function whenUsedUp(next: Date | null, now: Date) {
  const waitMs = (next?.getTime() ?? now.getTime()) - now.getTime();
  return whenRejected<UserRejection>('code_attempts_used')((): never => {
    throw new TooManyAttempts(Math.ceil(waitMs / 1_000), 'the code was tried too often; ask for another');
  });
}

/**
 * Mails the code that proves the address of an account, until it expires. It mails nothing when the code was mailed,
 * tried too often or replaced by a later one, when the address is proved or another one, or when the account is banned
 * or erased.
 */
export function mailEmailVerifications(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'verificationCodes' | 'clock'>,
) {
  const { handler, sealer, verificationCodes, clock, publicUrl } = deps;
  return makeMailReaction(deps, userAggregate, ['EmailVerificationRequested'], {
    name: 'mail-email-verifications',
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (userId, event) => {
      const { verification_id: issue_id, code_key_id: kid, email_digest } = event.data;
      const { state: user } = await handler.load(userAggregate, userId);
      if (user.status !== 'registered' || user.email_verified || user.banned) return null;
      const { verification } = user;
      if (verification?.verification_id !== issue_id || verification.mailed) return null;
      if (user.email_digest !== email_digest || verification.attempts >= mailedCode.attemptsMax) return null;
      if (new Date(verification.expires_at) <= clock.now()) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', user.email);
      const code = verificationCodes.codeFor({ kid, issue_id, email_digest });
      const message = emailVerificationMessage({ code, expires_at: verification.expires_at, publicUrl });
      return { to, person: userId, ...message };
    },
    // The command is rejected when the person was erased meanwhile.
    record: async (id, event, outcome, context) => {
      const verification_id = event.data.verification_id;
      const command = { type: 'MarkEmailVerificationMailed', verification_id, outcome } as const;
      await handler.handle(userAggregate.at(id), command, context);
    },
  });
}
