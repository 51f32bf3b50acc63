import { orderCategory, orderCodec, type OrderEvent } from '../../domain/order/events.js';
import { isUnpaid, orderAggregate } from '../../domain/order/order.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import type { PaymentDeps } from '../../deps.js';

type OrderPlaced = Extract<OrderEvent, { type: 'OrderPlaced' }>;

/** Expires every order that is not paid in time (docs/design.md#plans-and-orders). Each order waits with a timer. */
export function makeExpireOrders({
  handler,
  clock,
}: Pick<PaymentDeps, 'handler' | 'clock'>): Reaction<OrderPlaced> {
  return {
    name: 'expire-orders',
    category: orderCategory,
    codec: orderCodec,
    types: ['OrderPlaced'],
    hasTimers: true,
    asks: async (event) => {
      const dueAt = new Date(event.data.expires_at);
      // Its stream is read only when it is due: a waiting order costs no reads.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(orderAggregate, streamIdOf(event));
      return state.status === 'placed' && isUnpaid(state) ? 'yes' : 'no';
    },
    conclude: async (event, context) => {
      const target = { aggregate: orderAggregate, id: streamIdOf(event) };
      await handler.handle(target, { type: 'Expire', now: clock.now() }, context);
    },
  };
}
