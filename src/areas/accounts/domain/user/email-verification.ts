import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import { mailedCode, nextMailedCodeAt } from '../../../../security/guessing/mailed-code.js';
import { type RequestSession, requireSession } from '../guard.js';
import type { UserEvent } from './events.js';
import { rejectUser } from './rejections.js';
import type { EmailVerification, RegisteredUser } from './fold.js';

/** A code that is mailed to the address of the account. */
export type VerificationIssue = Readonly<
  Omit<Extract<UserEvent, { type: 'EmailVerificationRequested' }>['data'], 'email_digest'>
>;

export type EmailVerificationCommand =
  /** An operator vouches for the address. */
  | { readonly type: 'VerifyEmail'; readonly email_digest: string }
  /** A sign-in by a mailed code proves the address. The first proof voids all that the account held before. */
  | { readonly type: 'ProveEmail'; readonly email_digest: string }
  | {
      readonly type: 'RequestEmailVerification';
      readonly email_digest: string;
      readonly issue: VerificationIssue;
      readonly now: Date;
    }
  | {
      readonly type: 'MarkEmailVerificationMailed';
      readonly verification_id: string;
      readonly outcome: MailOutcome;
    }
  /** Counts an attempt before the mailed code is compared. */
  | { readonly type: 'AttemptEmailVerification'; readonly verification_id: string; readonly now: Date }
  /** The code was right. It voids nothing, because a session of the account presented it. */
  | {
      readonly type: 'ProveEmailInSession';
      readonly verification_id: string;
      readonly session: RequestSession;
    };

/**
 * The life of the code. NIST SP 800-63A-4 lets a confirmation code that is mailed to an address live 24 h. A longer
 * life costs no security: the attempts at a code and the codes of an address are bounded.
 */
export const emailVerificationSeconds = 86_400;

/** Returns when the user may request another code; null: now. */
export function nextEmailVerificationAt({ verificationsAskedAt }: RegisteredUser, now: Date): Date | null {
  return nextMailedCodeAt(verificationsAskedAt, now);
}

export const emailVerificationDecisions: Decisions<EmailVerificationCommand, RegisteredUser, UserEvent> = {
  VerifyEmail: ({ email_digest }, user) => verify(email_digest, user),
  ProveEmail: ({ email_digest }, user) => {
    const verified = verify(email_digest, user);
    return verified.length === 0 ? [] : [...verified, allVoided];
  },
  RequestEmailVerification: (command, user) => request(command, user),
  MarkEmailVerificationMailed: ({ verification_id, outcome }, user) => {
    if (user.verification?.verification_id !== verification_id || user.verification.mailed) return [];
    return [{ type: 'EmailVerificationMailed', data: { verification_id, outcome } }];
  },
  AttemptEmailVerification: (command, user) => {
    const verification = pending(user, command.verification_id);
    if (new Date(verification.expires_at) <= command.now) notPending();
    if (verification.attempts >= mailedCode.attemptsMax)
      rejectUser('code_attempts_used', 'the code was tried too often; ask for another');
    return [{ type: 'EmailVerificationAttempted', data: { verification_id: command.verification_id } }];
  },
  ProveEmailInSession: (command, user) => {
    // A mailed code that signed in meanwhile has ended this session, so the order of the checks matters.
    requireSession(user, command.session);
    if (user.email_verified) return [];
    const { email_digest } = pending(user, command.verification_id);
    return [{ type: 'EmailVerified', data: { email_digest } }];
  },
};

/** What the first proof of an address does beside it. */
export const allVoided: UserEvent = { type: 'CredentialsVoided', data: {} };

function verify(email_digest: string, user: RegisteredUser): readonly UserEvent[] {
  if (user.email_digest !== email_digest) rejectUser('address_changed', 'the user has another address now');
  return user.email_verified ? [] : [{ type: 'EmailVerified', data: { email_digest } }];
}

/** Returns the event of a code that is mailed to the address. */
export function verificationRequested(email_digest: string, issue: VerificationIssue): UserEvent {
  return { type: 'EmailVerificationRequested', data: { email_digest, ...issue } };
}

function request(
  { email_digest, issue, now }: Extract<EmailVerificationCommand, { type: 'RequestEmailVerification' }>,
  user: RegisteredUser,
): readonly UserEvent[] {
  // A repetition, because the id derives from the command.
  if (user.verification?.verification_id === issue.verification_id) return [];
  if (user.email_digest !== email_digest) rejectUser('address_changed', 'the user has another address now');
  if (user.email_verified) rejectUser('address_proved', 'the address is verified already');
  if (nextEmailVerificationAt(user, now) !== null) {
    rejectUser(
      'email_verification_too_soon',
      'a code was mailed a moment ago; wait before you ask for another',
    );
  }
  return [verificationRequested(email_digest, issue)];
}

function pending({ verification, email_digest }: RegisteredUser, verification_id: string): EmailVerification {
  const isPending =
    verification?.verification_id === verification_id && verification.email_digest === email_digest;
  return isPending ? verification : notPending();
}

function notPending(): never {
  return rejectUser('email_verification_not_pending', 'no code is valid for the address; ask for another');
}
