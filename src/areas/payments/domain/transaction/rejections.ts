import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type PaymentRejection =
  /** No report was accepted under this name. */
  | 'payment_callback_not_found'
  /** It does not wait for a decision. */
  | 'payment_callback_not_held'
  /** An operator has made another decision. */
  | 'payment_callback_resolved'
  /** The report is unreadable, so it cannot be applied to an order. */
  | 'payment_callback_unreadable'
  /** The order or the transaction has its maximum of reports. */
  | 'payment_callback_full'
  /** The transaction has paid another order. */
  | 'transaction_of_another_order'
  /** The transaction has its maximum of reports. */
  | 'transaction_full';

export function rejectPayment(code: PaymentRejection, message: string): never {
  throw new CommandRejected<PaymentRejection>(code, message);
}
