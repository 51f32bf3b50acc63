import { CommandRejected } from '../../event-sourcing/errors.js';

export type OrderRejection =
  | 'order_not_found'
  /** It has been paid, canceled, or has expired. */
  | 'order_not_open'
  | 'order_limit_reached'
  /** There is no such plan, or it has no price in this currency. */
  | 'plan_not_available'
  /** So much was reported of it that nothing more is kept, and people know. */
  | 'order_full'
  /** Nothing of this order waits for a decision. */
  | 'review_not_open'
  /** Another decision was made before. */
  | 'review_resolved'
  /** It is no payment, or one of another order's transaction. */
  | 'review_not_applicable';

export function rejectOrder(code: OrderRejection, message: string): never {
  throw new CommandRejected<OrderRejection>(code, message);
}
