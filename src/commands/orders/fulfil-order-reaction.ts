import type { FulfilOrder } from './fulfil-order.js';
import { orderCodec, type OrderEvent, orderCategory } from '../../domain/order/events.js';
import type { Reaction } from '../../event-sourcing/reacting/reaction.js';
import { streamIdOf } from '../../event-sourcing/ports/stream-name.js';

type FactsChanged = Extract<
  OrderEvent,
  { type: 'PaymentCaptured' | 'RefundReported' | 'DisputeClosed' | 'ReviewResolved' }
>;

/** Grants or revokes what was bought, after every event that may change whether it is due. */
export function makeFulfilOrders({
  fulfilOrder,
}: {
  readonly fulfilOrder: FulfilOrder;
}): Reaction<FactsChanged> {
  return {
    name: 'fulfil-orders',
    category: orderCategory,
    codec: orderCodec,
    types: ['PaymentCaptured', 'RefundReported', 'DisputeClosed', 'ReviewResolved'],
    asks: async (event) => ((await fulfilOrder.isOwed(streamIdOf(event))) ? 'yes' : 'no'),
    conclude: (event, context) => fulfilOrder.fulfil(streamIdOf(event), context),
  };
}
