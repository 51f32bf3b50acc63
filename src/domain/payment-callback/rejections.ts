import { CommandRejected } from '../../event-sourcing/errors.js';

export type PaymentCallbackRejection =
  /** No callback was accepted under this name. */
  | 'payment_callback_not_found'
  /** It does not wait for anybody. */
  | 'payment_callback_not_held'
  /** Another decision was made before. */
  | 'payment_callback_resolved'
  /** What of it waits cannot be read, so that no order can be given it. */
  | 'payment_callback_unreadable'
  /** Its order has heard so much that it keeps no more. */
  | 'payment_callback_order_full';

export function rejectPaymentCallback(code: PaymentCallbackRejection, message: string): never {
  throw new CommandRejected<PaymentCallbackRejection>(code, message);
}
