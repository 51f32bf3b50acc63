import type { Decisions } from '../../../../event-sourcing/deciding/aggregates.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import { mailedCode, nextMailedCodeAt } from '../../../../security/guessing/mailed-code.js';
import type { UserEvent, VoidedCredential } from './events.js';
import { formerAddress, revertibleChangesMax, revertibleMs, type FormerAddress } from './former-addresses.js';
import { rejectUser } from './rejections.js';
import type { EmailChange, RegisteredUser } from './fold.js';
import { allVoided } from './email-verification.js';

type Requested = Extract<UserEvent, { type: 'EmailChangeRequested' }>['data'];

export type EmailChangeCommand =
  | ({ readonly type: 'RequestEmailChange'; readonly now: Date } & Readonly<Requested>)
  | { readonly type: 'MarkEmailChangeMailed'; readonly change_id: string; readonly outcome: MailOutcome }
  /** Counts an attempt before the mailed code is compared. */
  | { readonly type: 'AttemptEmailChange'; readonly change_id: string; readonly now: Date }
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

export type RevertCommand =
  | {
      readonly type: 'RevertEmailChange';
      /** The change to undo, together with all later ones. */
      readonly change_id: string;
      /** Whether the caller has proved the former address by its code. Otherwise an operator vouches. */
      readonly byCode: boolean;
      readonly now: Date;
    }
  /** Ends the reservation of a former address whose time is over. */
  | { readonly type: 'LapseFormerAddress'; readonly email_digest: string; readonly now: Date };

export const revertDecisions: Decisions<RevertCommand, RegisteredUser, UserEvent> = {
  RevertEmailChange: ({ change_id, byCode, now }, user) => {
    const former = user.formerAddresses.find((entry) => entry.change_id === change_id);
    if (former === undefined) {
      // A repetition: the address is back, and no change followed.
      if (user.lastRevert?.change_id === change_id) return [];
      return notRevertible();
    }
    if (byCode && former.until <= now) notRevertible();
    return [
      {
        type: 'EmailChangeReverted',
        data: {
          change_id,
          email: former.email,
          email_digest: former.email_digest,
          email_verified: byCode || former.verified,
          previous_email_digest: user.email_digest,
          voided: [...credentialsToVoid(user, former)],
          kept_passkeys: safePasskeys(user, former),
        },
      },
      // The code is the first proof of this address, as in `ProveEmail`.
      ...(byCode && !former.verified ? [allVoided] : []),
    ];
  },
  LapseFormerAddress: (command, user) => {
    const former = formerAddress(user, command.email_digest);
    if (former === null || former.until > command.now) return [];
    return [{ type: 'FormerAddressLapsed', data: { change_id: former.change_id } }];
  },
};

/** The events after which the user has another address than before. */
export const leavingAddress = ['EmailChanged', 'EmailChangeReverted'] as const;

/** Returns until when the event of another address can be undone; null: it cannot. */
export function revertibleUntil(
  event: Extract<UserEvent, { type: (typeof leavingAddress)[number] }>,
): Date | null {
  return event.type === 'EmailChanged' && event.data.revert !== null
    ? new Date(event.data.revert.until)
    : null;
}

/**
 * Returns the credentials that a thief of the account may have set or may know. A factor, TOTP or a passkey, that the user
 * added long before the change stays, because a thief without it could not have changed the address. Beside such a factor,
 * recovery codes and a password of the same age stay too. Without one, no password stays: the user signs in by a mailed
 * code, and the thief may know the password.
 */
export function credentialsToVoid(user: RegisteredUser, former: FormerAddress): readonly VoidedCredential[] {
  const { totp, password_hash, passwordSetAt, recoveryCodes, recoveryCodesIssuedAt, passkeys } = user;
  const isSafe = (at: Date | null): boolean => isOlder(at, former);
  const keepsTotp = totp.status === 'on' && isSafe(totp.confirmedAt);
  const kept = safePasskeys(user, former);
  const keepsFactor = keepsTotp || kept.length > 0;
  const voided: VoidedCredential[] = [];
  if (password_hash !== null && !(keepsFactor && isSafe(passwordSetAt))) voided.push('password');
  if (totp.status !== 'off' && !keepsTotp) voided.push('totp');
  if (recoveryCodes.size > 0 && !(keepsFactor && isSafe(recoveryCodesIssuedAt)))
    voided.push('recovery_codes');
  if (kept.length < passkeys.length) voided.push('passkeys');
  return voided;
}

function safePasskeys({ passkeys }: RegisteredUser, former: FormerAddress): string[] {
  return passkeys
    .filter(({ registeredAt }) => isOlder(registeredAt, former))
    .map(({ passkey_id }) => passkey_id);
}

/** No one has proved an unverified address before, so no credential is known to be its holder's. */
function isOlder(at: Date | null, { verified, changedAt }: FormerAddress): boolean {
  return verified && at !== null && at.getTime() < changedAt.getTime() - revertibleMs;
}

function notRevertible(): never {
  return rejectUser('email_change_not_revertible', 'the change of address cannot be undone any more');
}
