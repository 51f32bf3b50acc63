import { CommandRejected } from '../../event-sourcing/ports/errors.js';

export type PaymentCallbackRejection =
  /** No callback was accepted under this name. */
  | 'payment_callback_not_found'
  /** It does not wait for a decision. */
  | 'payment_callback_not_held'
  /** An operator has made another decision. */
  | 'payment_callback_resolved'
  /** The held fact is unreadable, so it cannot be applied to an order. */
  | 'payment_callback_unreadable'
  /** The order has its maximum of reports. */
  | 'payment_callback_order_full';

export function rejectPaymentCallback(code: PaymentCallbackRejection, message: string): never {
  throw new CommandRejected<PaymentCallbackRejection>(code, message);
}
