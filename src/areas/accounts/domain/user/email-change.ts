import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import { mailedCode, nextMailedCodeAt } from '../../../../security/guessing/mailed-code.js';
import { type RequestSession, requireSession } from '../guard.js';
import type { UserEvent } from './events.js';
import { formerAddress, revertibleChangesMax, revertibleMs } from './former-addresses.js';
import { rejectUser } from './rejections.js';
import type { EmailChange, RegisteredUser } from './fold.js';

type Requested = Extract<UserEvent, { type: 'EmailChangeRequested' }>['data'];

export type EmailChangeCommand =
  | ({ readonly type: 'RequestEmailChange'; readonly now: Date } & Readonly<Requested>)
  | { readonly type: 'MarkEmailChangeMailed'; readonly change_id: string; readonly outcome: MailOutcome }
  /** Counts an attempt before the mailed code is compared. */
  | {
      readonly type: 'AttemptEmailChange';
      readonly change_id: string;
      /** The session of the request: a change that it completes would outlive its end. */
      readonly session: RequestSession;
      readonly now: Date;
    }
  /** The code was right, and the address is reserved for this change. */
  | {
      readonly type: 'CompleteEmailChange';
      readonly change_id: string;
      readonly email_digest: string;
      /** The key of the code that the present address gets, to put itself back. */
      readonly code_key_id: string;
      readonly now: Date;
    };

/** Returns when the user may request another change of address; null: now. */
export function nextEmailChangeAt(
  { emailChangesAsked, formerAddresses }: RegisteredUser,
  now: Date,
): Date | null {
  // The mails may reach strangers, so the limits are those of sign-in codes.
  const next = nextMailedCodeAt(
    emailChangesAsked.map(({ askedAt }) => askedAt),
    now,
  );
  const revertible = formerAddresses.filter(({ until }) => until > now);
  const oldest = revertible.at(-revertibleChangesMax);
  const nextMs = Math.max(next?.getTime() ?? 0, oldest?.until.getTime() ?? 0);
  return nextMs <= now.getTime() ? null : new Date(nextMs);
}

export const emailChangeDecisions: Decisions<EmailChangeCommand, RegisteredUser, UserEvent> = {
  RequestEmailChange: (command, user) => request(command, user),
  MarkEmailChangeMailed: (command, user) => {
    if (user.emailChange?.change_id !== command.change_id || user.emailChange.mailed) return [];
    return [{ type: 'EmailChangeMailed', data: { change_id: command.change_id, outcome: command.outcome } }];
  },
  AttemptEmailChange: (command, user) => {
    requireSession(user, command.session);
    const change = pending(user, command.change_id);
    if (new Date(change.expires_at) <= command.now) notPending();
    if (change.attempts >= mailedCode.attemptsMax)
      rejectUser('code_attempts_used', 'the code was tried too often; ask for another');
    return [{ type: 'EmailChangeAttempted', data: { change_id: command.change_id } }];
  },
  CompleteEmailChange: (command, user) => {
    // Another process has completed the change. A revert to the same address has not: it has ended the change.
    const isReverted = user.lastRevert?.email_digest === command.email_digest;
    if (user.email_digest === command.email_digest && !isReverted) return [];
    const { change_id, email, email_digest } = pending(user, command.change_id);
    const until = new Date(command.now.getTime() + revertibleMs).toISOString();
    // After a return to a former address, the address in between may be a thief's: it gets no code.
    const returns = formerAddress(user, email_digest) !== null;
    return [
      {
        type: 'EmailChanged',
        data: {
          ...{ change_id, email, email_digest },
          previous_email_digest: user.email_digest,
          revert: returns ? null : { code_key_id: command.code_key_id, until },
        },
      },
    ];
  },
};

function request(
  command: Extract<EmailChangeCommand, { type: 'RequestEmailChange' }>,
  user: RegisteredUser,
): readonly UserEvent[] {
  const { change_id, email, email_digest, code_key_id, expires_at, now } = command;
  // A repetition, because the change's id derives from the command.
  if (user.emailChange?.change_id === change_id) return [];
  // A repetition must not restore a replaced change: see `holdsAddress`.
  if (user.emailChangesAsked.some((asked) => asked.change_id === change_id)) notPending();
  if (user.email_digest === email_digest)
    rejectUser('address_unchanged', 'email is the address of your account already');
  if (nextEmailChangeAt(user, now) !== null)
    rejectUser('email_change_too_soon', 'a code was mailed a moment ago; wait before you ask for another');
  const data = { change_id, email, email_digest, code_key_id, expires_at };
  return [{ type: 'EmailChangeRequested', data }];
}

function pending({ emailChange }: RegisteredUser, change_id: string): EmailChange {
  return emailChange?.change_id === change_id ? emailChange : notPending();
}

function notPending(): never {
  return rejectUser('email_change_not_pending', 'no change of address is under way');
}
