import type { UserEvent, VoidedCredential } from './events.js';
import { type FormerAddress, formerAddress, revertibleMs } from './former-addresses.js';
import { rejectUser } from './rejections.js';
import type { RegisteredUser } from './state.js';

export type RevertCommand =
  | {
      readonly type: 'RevertEmailChange';
      /** The change to undo, together with all later ones. */
      readonly changeId: string;
      /** Whether the caller has proved the former address by its code. Otherwise an operator vouches. */
      readonly byCode: boolean;
      readonly now: Date;
    }
  /** Ends the reservation of a former address whose time is over. */
  | { readonly type: 'LapseFormerAddress'; readonly emailDigest: string; readonly now: Date };

export function decideRevert(command: RevertCommand, user: RegisteredUser): readonly UserEvent[] {
  switch (command.type) {
    case 'RevertEmailChange':
      return revert(command, user);
    case 'LapseFormerAddress': {
      const former = formerAddress(user, command.emailDigest);
      if (former === null || former.until > command.now) return [];
      return [{ type: 'FormerAddressLapsed', data: { change_id: former.changeId } }];
    }
  }
}

function revert(
  { changeId, byCode, now }: Extract<RevertCommand, { type: 'RevertEmailChange' }>,
  user: RegisteredUser,
): readonly UserEvent[] {
  const former = user.formerAddresses.find((entry) => entry.changeId === changeId);
  if (former === undefined) {
    // A repetition: the address is back, and no change followed.
    if (user.lastRevert?.changeId === changeId) return [];
    return notRevertible();
  }
  if (byCode && former.until <= now) notRevertible();
  return [
    {
      type: 'EmailChangeReverted',
      data: {
        change_id: changeId,
        email: former.email,
        email_digest: former.emailDigest,
        email_verified: byCode || former.verified,
        previous_email_digest: user.email_digest,
        voided: [...credentialsToVoid(user, former)],
      },
    },
    // The code is the first proof of this address, as in `ProveEmail`.
    ...(byCode && !former.verified ? [{ type: 'CredentialsVoided', data: {} } as const] : []),
  ];
}

/**
 * Returns the credentials that a thief of the account may have set or may know. A second factor that the user set up
 * long before the change stays, because a thief without it could not have changed the address. Beside such a factor,
 * recovery codes and a password of the same age stay too. Without one, no password stays: the user signs in by a mailed
 * code, and the thief may know the password. Passkeys stay where all of them are as old as such a factor.
 */
export function credentialsToVoid(
  { totp, passwordHash, passwordSetAt, recoveryCodes, recoveryCodesIssuedAt, passkeys }: RegisteredUser,
  { verified, changedAt }: FormerAddress,
): readonly VoidedCredential[] {
  const safeBeforeMs = changedAt.getTime() - revertibleMs;
  // No one has proved an unverified address before, so no credential is known to be its holder's.
  const isSafe = (at: Date | null): boolean => verified && at !== null && at.getTime() < safeBeforeMs;
  const keepsFactor = totp.status === 'on' && isSafe(totp.confirmedAt);
  const voided: VoidedCredential[] = [];
  if (passwordHash !== null && !(keepsFactor && isSafe(passwordSetAt))) voided.push('password');
  if (totp.status !== 'off' && !keepsFactor) voided.push('totp');
  if (recoveryCodes.size > 0 && !(keepsFactor && isSafe(recoveryCodesIssuedAt)))
    voided.push('recovery_codes');
  if (passkeys.some(({ registeredAt }) => !isSafe(registeredAt))) voided.push('passkeys');
  return voided;
}

function notRevertible(): never {
  return rejectUser('email_change_not_revertible', 'the change of address cannot be undone any more');
}
