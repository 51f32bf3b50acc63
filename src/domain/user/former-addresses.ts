import type { Evolving } from '../../event-sourcing/deciding/decider.js';
import type { Sealed } from '../../event-sourcing/ports/sealed.js';
import type { UserEvent, VoidedCredential } from './events.js';
import { rejectUser } from './rejections.js';
import type { RegisteredUser } from './state.js';

/** An address that the user had, and that can be put back (docs/design.md#revert-of-an-address-change). */
export interface FormerAddress {
  /** The change that replaced the address. */
  readonly changeId: string;
  readonly email: Sealed;
  readonly emailDigest: string;
  readonly verified: boolean;
  /** The store's recorded time of the change. */
  readonly changedAt: Date;
  /** The key of CODE_KEYS that makes the mailed code. */
  readonly codeKeyId: string;
  /** The end of the code. The address stays reserved until FormerAddressLapsed. */
  readonly until: Date;
}

/** A former address can be put back for this long, in ms. */
export const revertibleMs = 72 * 3_600_000;

/** A user changes the address at most this often while each change can be undone, so that the state stays bounded. */
export const revertibleChangesMax = 10;

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

/** Returns the entry of a former address that is still reserved; null where there is none. */
export function formerAddress(
  { formerAddresses }: Pick<RegisteredUser, 'formerAddresses'>,
  emailDigest: string,
): FormerAddress | null {
  return formerAddresses.find((former) => former.emailDigest === emailDigest) ?? null;
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
  ];
}

/**
 * Returns the credentials that a thief of the account may have set or may know. A second factor that the user set up
 * long before the change stays, because a thief without it could not have changed the address. Beside such a factor,
 * recovery codes and a password of the same age stay too. Without one, no password stays: the user signs in by a mailed
 * code, and the thief may know the password.
 */
export function credentialsToVoid(
  { totp, passwordHash, passwordSetAt, recoveryCodes, recoveryCodesIssuedAt }: RegisteredUser,
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
  return voided;
}

/** Returns the changes of the state by an event about addresses that the user had. @param user before the event */
export function formerAfter(
  user: RegisteredUser,
  event: Evolving<
    Extract<UserEvent, { type: 'EmailChanged' | 'EmailChangeReverted' | 'FormerAddressLapsed' }>
  >,
): Pick<RegisteredUser, 'formerAddresses' | 'lastRevert'> {
  const former = user.formerAddresses;
  switch (event.type) {
    case 'EmailChanged':
      return { formerAddresses: afterChange(user, event), lastRevert: null };
    case 'EmailChangeReverted': {
      const undone = former.findIndex(({ changeId }) => changeId === event.data.change_id);
      const lastRevert = former[undone] ?? null;
      return { formerAddresses: undone < 0 ? former : former.slice(0, undone), lastRevert };
    }
    case 'FormerAddressLapsed':
      return {
        formerAddresses: former.filter(({ changeId }) => changeId !== event.data.change_id),
        lastRevert: user.lastRevert,
      };
  }
}

function afterChange(
  { formerAddresses, email, email_digest: emailDigest, email_verified: verified }: RegisteredUser,
  { data, recordedAt: changedAt }: Evolving<Extract<UserEvent, { type: 'EmailChanged' }>>,
): readonly FormerAddress[] {
  const returned = formerAddresses.findIndex((former) => former.emailDigest === data.email_digest);
  const kept = returned < 0 ? formerAddresses : formerAddresses.slice(0, returned);
  if (data.revert === null) return kept;
  const { code_key_id: codeKeyId, until } = data.revert;
  const left = { changeId: data.change_id, email, emailDigest, verified, changedAt };
  return [...kept, { ...left, codeKeyId, until: new Date(until) }];
}

function notRevertible(): never {
  return rejectUser('email_change_not_revertible', 'the change of address cannot be undone any more');
}
