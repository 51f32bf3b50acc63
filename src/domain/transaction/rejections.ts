import { CommandRejected } from '../../event-sourcing/ports/errors.js';

export type TransactionRejection =
  /** The transaction has paid another order. */
  | 'transaction_of_another_order'
  /** The transaction belongs to an order, so no callback needs to wait. */
  | 'transaction_linked'
  /** Too many callbacks wait, or have waited, for the transaction. */
  | 'transaction_full';

export function rejectTransaction(code: TransactionRejection, message: string): never {
  throw new CommandRejected<TransactionRejection>(code, message);
}
