import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { UserEvent } from '../user/events.js';
import { rejectUser } from '../user/rejections.js';
import type { RegisteredUser, Totp } from '../user/state.js';

/** A second factor that the caller has verified. `decide` checks that it is unused. */
export type SecondFactor =
  | { readonly kind: 'totp'; readonly enrolmentId: string; readonly step: number }
  | { readonly kind: 'recovery-code'; readonly digest: string };

export type TotpCommand =
  | { readonly type: 'EnrolTotp'; readonly enrolmentId: string; readonly secret: Sealed }
  | {
      readonly type: 'ConfirmTotp';
      readonly enrolmentId: string;
      readonly step: number;
      /** Keyed digests. */
      readonly recoveryCodes: readonly string[];
    }
  | { readonly type: 'PassSecondFactor'; readonly factor: SecondFactor }
  | {
      readonly type: 'ReplaceRecoveryCodes';
      readonly factor: SecondFactor;
      readonly recoveryCodes: readonly string[];
    }
  | { readonly type: 'RemoveTotp'; readonly factor: SecondFactor };

export function decideTotp(command: TotpCommand, user: RegisteredUser): readonly UserEvent[] {
  switch (command.type) {
    case 'EnrolTotp':
      if (user.totp.status === 'on') alreadyOn();
      // A repetition, because the enrolment's id derives from the command.
      if (user.totp.status === 'enrolling' && user.totp.enrolmentId === command.enrolmentId) return [];
      return [{ type: 'TotpEnrolled', data: { enrolment_id: command.enrolmentId, secret: command.secret } }];
    case 'ConfirmTotp':
      if (isConfirmed(command, user)) return [];
      requireEnrolling(user.totp, command.enrolmentId);
      return [
        { type: 'TotpConfirmed', data: { enrolment_id: command.enrolmentId, step: command.step } },
        { type: 'RecoveryCodesIssued', data: { digests: [...command.recoveryCodes] } },
      ];
    case 'PassSecondFactor':
      return [use(command.factor, user)];
    case 'ReplaceRecoveryCodes':
      return [
        use(command.factor, user),
        { type: 'RecoveryCodesIssued', data: { digests: [...command.recoveryCodes] } },
      ];
    case 'RemoveTotp':
      return [use(command.factor, user), { type: 'TotpRemoved', data: {} }];
  }
}

/** Returns whether an earlier attempt made this confirmation. Another one issued other recovery codes. */
function isConfirmed(
  { enrolmentId, recoveryCodes }: Extract<TotpCommand, { type: 'ConfirmTotp' }>,
  user: RegisteredUser,
): boolean {
  return (
    user.totp.status === 'on' &&
    user.totp.enrolmentId === enrolmentId &&
    recoveryCodes.every((digest) => user.recoveryCodes.has(digest))
  );
}

function requireEnrolling(totp: Totp, enrolmentId: string): void {
  if (totp.status === 'on') alreadyOn();
  if (totp.status === 'off' || totp.enrolmentId !== enrolmentId) {
    rejectUser('totp_enrolment_superseded', 'another enrolment has begun; use its secret');
  }
}

function use(factor: SecondFactor, { totp, recoveryCodes }: RegisteredUser): UserEvent {
  if (totp.status !== 'on') return rejectUser('totp_not_on', 'two-factor authentication is not on');
  if (factor.kind === 'recovery-code') {
    if (!recoveryCodes.has(factor.digest)) refuse();
    return { type: 'RecoveryCodeUsed', data: { digest: factor.digest } };
  }
  // RFC 6238, section 5.2: a code is accepted once. The codes of earlier time steps are refused too.
  if (factor.enrolmentId !== totp.enrolmentId || factor.step <= totp.lastStep) refuse();
  return { type: 'TotpStepUsed', data: { step: factor.step } };
}

function refuse(): never {
  return rejectUser('second_factor_refused', 'the code is wrong or was used already');
}

function alreadyOn(): never {
  return rejectUser('totp_already_on', 'two-factor authentication is on already; remove it first');
}
