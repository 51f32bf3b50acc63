import { CommandRejected } from '../../event-sourcing/errors.js';

export type UserRejection =
  /** The registration was given up by somebody who waited for it long enough. */
  | 'registration_abandoned'
  /** A user stands where the caller expected none. */
  | 'already_registered'
  /** There is no such user, or there is none any more. */
  | 'user_not_found'
  /** The session that the command comes from has been ended meanwhile. */
  | 'session_ended'
  /** The password is not the one that the caller has checked. */
  | 'password_changed'
  /** The user has another address now. */
  | 'address_changed'
  /** Nobody has proved that the address is the user's. */
  | 'address_not_proved'
  /** No change of address is under way, or another one is; or its time is over. */
  | 'email_change_not_pending'
  /** The address asked for is the one that the user has. */
  | 'address_unchanged'
  /** Changes of address have been asked for too often. */
  | 'email_change_too_soon'
  /** The code is not the one that was mailed to the new address. */
  | 'email_change_code_refused'
  /** Every try of a mailed code has been used. */
  | 'code_attempts_used'
  | 'totp_already_on'
  | 'totp_not_on'
  /** Another enrolment has begun since, or none has. */
  | 'totp_enrolment_superseded'
  /** The code of a time step that was used already, or a recovery code that is none of the user's. */
  | 'second_factor_refused';

export function rejectUser(code: UserRejection, message: string): never {
  throw new CommandRejected<UserRejection>(code, message);
}
