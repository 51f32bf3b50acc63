import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type CheckoutRejection =
  /** The order has no such payment, or less than the amount remains of it. */
  'refund_not_possible';

export function rejectCheckout(code: CheckoutRejection, message: string): never {
  throw new CommandRejected<CheckoutRejection>(code, message);
}
