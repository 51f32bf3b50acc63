import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type UserRejection =
  /** Another command abandoned the registration, which took too long. */
  | 'registration_abandoned'
  /** The user is registered, so the registration cannot be abandoned. */
  | 'already_registered'
  /** The user does not exist or was erased. */
  | 'user_not_found'
  /** The caller's session has ended meanwhile. */
  | 'session_ended'
  /** The password is not the one that the caller checked. */
  | 'password_changed'
  /** The user has another address now. */
  | 'address_changed'
  /** The address is not verified. */
  | 'address_not_proved'
  /** The address is verified already, so no code is mailed. */
  | 'address_proved'
  /** No code was mailed to the address, or its time is over. */
  | 'email_verification_not_pending'
  /** The user has requested too many codes. */
  | 'email_verification_too_soon'
  /** The code is not the one that was mailed to the address. */
  | 'email_verification_code_refused'
  /** An operator has banned the account. */
  | 'account_banned'
  /** No change of address is under way, or another one is, or its time is over. */
  | 'email_change_not_pending'
  /** No change can be undone, or its time is over, or the code is wrong. */
  | 'email_change_not_revertible'
  /** The requested address is the user's present one. */
  | 'address_unchanged'
  /** The user has requested too many changes of address. */
  | 'email_change_too_soon'
  /** The code is not the one that was mailed to the new address. */
  | 'email_change_code_refused'
  /** All attempts at the mailed code are used. */
  | 'code_attempts_used'
  | 'totp_already_on'
  | 'totp_not_on'
  /** Another enrolment has begun, or none has. */
  | 'totp_enrolment_superseded'
  /** The code's time step was used already, or the recovery code is not the user's. */
  | 'second_factor_refused'
  /** The user has no such passkey. */
  | 'passkey_not_found'
  /** The user has the passkey already. */
  | 'passkey_registered_before'
  | 'passkey_limit_reached';

export function rejectUser(code: UserRejection, message: string): never {
  throw new CommandRejected<UserRejection>(code, message);
}
