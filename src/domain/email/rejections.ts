import { CommandRejected } from '../../event-sourcing/errors.js';

/** `address_reserved`: the reservation is not the one that the caller has judged. */
export type EmailRejection = 'address_reserved';

export function rejectEmail(code: EmailRejection, message: string): never {
  throw new CommandRejected<EmailRejection>(code, message);
}
