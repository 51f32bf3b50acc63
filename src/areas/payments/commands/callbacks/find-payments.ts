import type { OrderForOperator } from '../../../../../projections/payments/orders/resource.js';
import type { PaymentCallbackResource } from '../../../../../projections/payments/payment-callbacks/resource.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { paymentProvider } from '../../domain/payment.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import type { PaymentDeps } from '../../deps.js';
import { transactionStreamId } from '../../domain/payment-ids.js';

/** What is known of a transaction. */
export interface FoundPayments {
  /** The reports whose first transaction it is: at most 100. */
  readonly items: readonly PaymentCallbackResource[];
  /** The orders that it pays, or that its reports name. */
  readonly orders: readonly OrderForOperator[];
}

/**
 * Finds what was reported of a platform's transaction, and its orders. Platforms choose ids independently, so it asks for
 * each platform. @throws StoreUnavailable
 */
export type FindPayments = (transactionId: string) => Promise<FoundPayments>;

export function makeFindPayments({
  handler,
  orders,
  paymentCallbacks,
}: Pick<PaymentDeps, 'handler'> & Pick<PaymentDeps, 'orders' | 'paymentCallbacks'>): FindPayments {
  return async (transactionId) => {
    const [items, linked] = await Promise.all([
      paymentCallbacks.ofTransaction(transactionId),
      ordersLinkedTo(transactionId),
    ]);
    const named = items.flatMap(({ order_id, notifications }) => [
      order_id,
      ...notifications.map(({ order_number: number }) => (number === null ? null : parseOrderNumber(number))),
    ]);
    const ids = new Set([...linked, ...named].filter((id) => id !== null));
    const found = await Promise.all([...ids].map((id) => orders.forOperator(id)));
    return { items, orders: found.filter((order) => order !== null) };
  };

  async function ordersLinkedTo(transactionId: string): Promise<readonly string[]> {
    const found = await Promise.all(
      paymentProvider.options.map((provider) =>
        handler.load(transactionAggregate, transactionStreamId(provider, transactionId)),
      ),
    );
    return found.flatMap(({ state }) => (state.link === null ? [] : [state.link.order_id]));
  }
}
