import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import { allVoided } from './email-verification.js';
import type { UserEvent, VoidedCredential } from './events.js';
import { type FormerAddress, formerAddress, revertibleMs } from './former-addresses.js';
import { rejectUser } from './rejections.js';
import type { RegisteredUser } from './fold.js';

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
