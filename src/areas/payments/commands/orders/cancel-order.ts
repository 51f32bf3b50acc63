import type { NamedRevisions } from '../../../../event-sourcing/deciding/expected-revision.js';
import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import { orderAggregate } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import type { OrderResource } from '../../../../../projections/payments/orders/reader.js';

export interface CancelOrderInput {
  readonly userId: string;
  readonly orderId: string;
  readonly expectedRevision?: NamedRevisions | undefined;
}

/**
 * Cancels an unpaid order. A payment that arrives later revives it.
 * @throws CommandRejected order_not_found, order_not_open
 */
export type CancelOrder = (
  input: CancelOrderInput,
  context: CommandContext,
) => Promise<Versioned<OrderResource>>;

export function makeCancelOrder({ handler, orders }: Pick<PaymentDeps, 'handler' | 'orders'>): CancelOrder {
  return async ({ userId, orderId, expectedRevision }, context) => {
    const { state } = await handler.load(orderAggregate, orderId);
    // The owner of an order never changes, so this check before `handle` holds.
    if (state.status === 'absent' || state.userId !== userId) {
      rejectOrder('order_not_found', 'there is no such order');
    }
    const { documents } = await handler.handle(
      { aggregate: orderAggregate, id: orderId },
      { type: 'Cancel' },
      context,
      { expectedRevision },
    );
    return orders.after(documents);
  };
}
