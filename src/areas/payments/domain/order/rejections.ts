import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type OrderRejection =
  | 'order_not_found'
  /** The order was paid or canceled, or has expired. */
  | 'order_not_open'
  /** The buyer has paid, and the platform still decides. */
  | 'payment_pending'
  | 'order_limit_reached'
  /** No mismatch of this name waits for a decision. */
  | 'review_not_open'
  /** An operator has made another decision. */
  | 'review_resolved'
  /** What an operator records cannot be true beside what the order knows. */
  | 'record_contradicts'
  /** The mismatch is not a payment, or its transaction pays another order. */
  | 'review_not_applicable';

export function rejectOrder(code: OrderRejection, message: string): never {
  throw new CommandRejected<OrderRejection>(code, message);
}
