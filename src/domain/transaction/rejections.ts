import { CommandRejected } from '../../event-sourcing/errors.js';

export type TransactionRejection =
  /** It has paid another order. */
  | 'transaction_of_another_order'
  /** It belongs to an order by now, so nothing needs to wait. */
  | 'transaction_linked'
  /** So much waits for it that nothing more is parked there. */
  | 'transaction_full';

export function rejectTransaction(code: TransactionRejection, message: string): never {
  throw new CommandRejected<TransactionRejection>(code, message);
}
