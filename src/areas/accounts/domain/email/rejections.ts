import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

/** `address_reserved`: the reservation is not the one that the caller judged. */
export type EmailRejection = 'address_reserved';

export function rejectEmail(code: EmailRejection, message: string): never {
  throw new CommandRejected<EmailRejection>(code, message);
}
