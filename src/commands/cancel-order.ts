import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { Versioned } from '../event-sourcing/views.js';
import { orderAggregate } from '../domain/order/order.js';
import { rejectOrder } from '../domain/order/rejections.js';
import type { OrderReader, OrderResource } from '../../projections/orders/reader.js';

export interface CancelOrderInput {
  readonly userId: string;
  readonly orderId: string;
  readonly expectedRevision?: bigint | undefined;
}

/**
 * Gives up an order that nobody has paid. One that is paid all the same revives.
 * @throws CommandRejected order_not_found, order_not_open
 */
export type CancelOrder = (
  input: CancelOrderInput,
  context: CommandContext,
) => Promise<Versioned<OrderResource>>;

export function makeCancelOrder({
  handler,
  orders,
}: {
  readonly handler: CommandHandler;
  readonly orders: Pick<OrderReader, 'after'>;
}): CancelOrder {
  return async ({ userId, orderId, expectedRevision }, context) => {
    const { state } = await handler.load(orderAggregate, orderId);
    // Whose an order is never changes.
    if (state.status === 'absent' || state.userId !== userId) {
      rejectOrder('order_not_found', 'there is no such order');
    }
    const { documents } = await handler.handle(
      { aggregate: orderAggregate, id: orderId },
      { type: 'Cancel' },
      context,
      expectedRevision === undefined ? {} : { expectedRevision },
    );
    return orders.after(documents);
  };
}
