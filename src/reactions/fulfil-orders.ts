import type { FulfilOrder } from '../commands/fulfil-order.js';
import { orderCodec, type OrderEvent } from '../domain/order/events.js';
import { orderCategory } from '../domain/order/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type FactsChanged = Extract<
  OrderEvent,
  { type: 'PaymentCaptured' | 'RefundReported' | 'DisputeClosed' | 'ReviewResolved' }
>;

/** Grants what was bought, and takes it back, after every event that may change whether it is due. */
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
