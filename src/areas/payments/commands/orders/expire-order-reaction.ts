import { orderCategory, orderCodec, type OrderEvent } from '../../domain/order/events.js';
import { isExpiring, orderAggregate, pendingMsMax } from '../../domain/order/order.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import type { PaymentDeps } from '../../deps.js';

type Waiting = Extract<OrderEvent, { type: 'OrderPlaced' | 'PaymentPending' }>;

/**
 * Expires every order that is not paid in time (src/areas/payments/README.md#plans-and-orders), or whose payment no platform decides.
 * Each order waits with a timer, and each pending payment.
 */
export function makeExpireOrders({
  handler,
  clock,
}: Pick<PaymentDeps, 'handler' | 'clock'>): Reaction<Waiting> {
  return {
    name: 'expire-waiting-orders',
    category: orderCategory,
    codec: orderCodec,
    types: ['OrderPlaced', 'PaymentPending'],
    hasTimers: true,
    asks: async (event) => {
      const dueAt = dueOf(event);
      // Its stream is read only when it is due: a waiting order costs no reads.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(orderAggregate, streamIdOf(event));
      return state.status === 'placed' && isExpiring(state, clock.now()) ? 'yes' : 'no';
    },
    conclude: async (event, context) => {
      const target = { aggregate: orderAggregate, id: streamIdOf(event) };
      await handler.handle(target, { type: 'Expire', now: clock.now() }, context);
    },
  };
}

function dueOf(event: Waiting): Date {
  if (event.type === 'OrderPlaced') return new Date(event.data.expires_at);
  return new Date(Date.parse(event.data.at) + pendingMsMax);
}
