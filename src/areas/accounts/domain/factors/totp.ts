import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { UserEvent } from '../user/events.js';
import { rejectUser } from '../user/rejections.js';
import type { RegisteredUser } from '../user/fold.js';
import { type RequestSession, requireSession } from '../guard.js';
import { hasFactor, type Totp, type TotpOn } from './credentials.js';

/** A code that the caller has verified. `decide` checks that it is unused. */
export type SecondFactor =
  | { readonly kind: 'totp'; readonly enrolment_id: string; readonly step: number }
  | { readonly kind: 'recovery-code'; readonly digest: string };

/** Null: the session has just proved a passkey of the user, which stands for a code. */
export type FactorOrPasskey = SecondFactor | null;

export type TotpCommand =
  | { readonly type: 'EnrolTotp'; readonly enrolment_id: string; readonly secret: Sealed }
  | {
      readonly type: 'ConfirmTotp';
      readonly enrolment_id: string;
      readonly session: RequestSession;
      readonly step: number;
      /** Keyed digests. */
      readonly recoveryCodes: readonly string[];
    }
  | { readonly type: 'PassSecondFactor'; readonly factor: SecondFactor }
  | {
      readonly type: 'ReplaceRecoveryCodes';
      readonly factor: FactorOrPasskey;
      readonly session: RequestSession;
      readonly recoveryCodes: readonly string[];
    }
  | { readonly type: 'RemoveTotp'; readonly factor: FactorOrPasskey; readonly session: RequestSession };

export const totpDecisions: Decisions<TotpCommand, RegisteredUser, UserEvent> = {
  EnrolTotp: (command, user) => {
    if (user.totp.status === 'on') alreadyOn();
    // A repetition, because the enrolment's id derives from the command.
    if (user.totp.status === 'enrolling' && user.totp.enrolment_id === command.enrolment_id) return [];
    return [{ type: 'TotpEnrolled', data: { enrolment_id: command.enrolment_id, secret: command.secret } }];
  },
  ConfirmTotp: (command, user) => {
    requireSession(user, command.session);
    if (isConfirmed(command, user)) return [];
    requireEnrolling(user.totp, command.enrolment_id);
    return [
      { type: 'TotpConfirmed', data: { enrolment_id: command.enrolment_id, step: command.step } },
      ...firstRecoveryCodes(command.recoveryCodes, user),
    ];
  },
  PassSecondFactor: (command, user) => [use(command.factor, user)],
  ReplaceRecoveryCodes: (command, user) => {
    requireSession(user, command.session);
    return [
      ...useOrPasskey(command.factor, user),
      { type: 'RecoveryCodesIssued', data: { digests: [...command.recoveryCodes] } },
    ];
  },
  RemoveTotp: (command, user) => {
    requireSession(user, command.session);
    requireOn(user.totp);
    return [...useOrPasskey(command.factor, user), totpRemoved(user)];
  },
};

/** Returns the event of the codes that come with the first factor of an account; a later factor issues none. */
export function firstRecoveryCodes(digests: readonly string[], user: RegisteredUser): readonly UserEvent[] {
  return hasFactor(user) ? [] : [{ type: 'RecoveryCodesIssued', data: { digests: [...digests] } }];
}

/** Returns the event that removes TOTP. The recovery codes stay while a passkey is left. */
export function totpRemoved({ passkeys }: Pick<RegisteredUser, 'passkeys'>): UserEvent {
  return { type: 'TotpRemoved', data: { recovery_codes: passkeys.length > 0 ? 'stay' : 'end' } };
}

/**
 * Returns whether an earlier attempt made this confirmation. Another one issued other recovery codes. One beside a passkey
 * issued none, so there the code tells.
 */
function isConfirmed(
  { enrolment_id, step, recoveryCodes }: Extract<TotpCommand, { type: 'ConfirmTotp' }>,
  { totp, passkeys, recoveryCodes: held }: RegisteredUser,
): boolean {
  if (totp.status !== 'on' || totp.enrolment_id !== enrolment_id) return false;
  return recoveryCodes.every((digest) => held.has(digest)) || (passkeys.length > 0 && totp.lastStep === step);
}

function requireEnrolling(totp: Totp, enrolment_id: string): void {
  if (totp.status === 'on') alreadyOn();
  if (totp.status === 'off' || totp.enrolment_id !== enrolment_id)
    rejectUser('totp_enrolment_superseded', 'another enrolment has begun; use its secret');
}

function useOrPasskey(factor: FactorOrPasskey, user: RegisteredUser): readonly UserEvent[] {
  if (factor !== null) return [use(factor, user)];
  // The passkey was removed meanwhile.
  return user.passkeys.length > 0 ? [] : refuseFactor();
}

function use(factor: SecondFactor, user: RegisteredUser): UserEvent {
  if (factor.kind === 'recovery-code') {
    if (!hasFactor(user)) noFactor();
    if (!user.recoveryCodes.has(factor.digest)) refuseFactor();
    return { type: 'RecoveryCodeUsed', data: { digest: factor.digest } };
  }
  const totp = requireOn(user.totp);
  // RFC 6238, section 5.2: a code is accepted once. The codes of earlier time steps are refused too.
  if (factor.enrolment_id !== totp.enrolment_id || factor.step <= totp.lastStep) refuseFactor();
  return { type: 'TotpStepUsed', data: { step: factor.step } };
}

/** @throws CommandRejected second_factor_refused */
export function refuseFactor(): never {
  return rejectUser('second_factor_refused', 'the code is wrong or was used already');
}

/** @throws CommandRejected totp_not_on */
export function requireOn(totp: Totp): TotpOn {
  return totp.status === 'on' ? totp : rejectUser('totp_not_on', 'no authenticator app is on');
}

/** @throws CommandRejected totp_not_on */
export function noFactor(): never {
  return rejectUser('totp_not_on', 'the account has no second factor');
}

export function alreadyOn(): never {
  return rejectUser('totp_already_on', 'an authenticator app is on already; remove it first');
}
