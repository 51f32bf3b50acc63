import { CommandRejected } from '../../event-sourcing/errors.js';

export type UserRejection =
  /** The registration was given up by somebody who waited for it long enough. */
  | 'registration_abandoned'
  /** A user stands where the caller expected none. */
  | 'already_registered'
  | 'user_not_found';

export function rejectUser(code: UserRejection, message: string): never {
  throw new CommandRejected<UserRejection>(code, message);
}
