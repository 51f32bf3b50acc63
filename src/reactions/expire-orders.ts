import type { ExpireOrder } from '../commands/expire-order.js';
import { orderCodec, type OrderEvent } from '../domain/order/events.js';
import { orderCategory } from '../domain/order/stream.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type OrderPlaced = Extract<OrderEvent, { type: 'OrderPlaced' }>;

/**
 * Ends every order that was not paid in its time. An order waits here all that time, also over restarts, for the mark
 * stays behind it. All orders live equally long, so those beyond the thousand that may wait at once are not due before one
 * of these is.
 */
export function makeExpireOrders({
  expireOrder,
  clock,
}: {
  readonly expireOrder: ExpireOrder;
  readonly clock: Clock;
}): Reaction<OrderPlaced> {
  return {
    name: 'expire-orders',
    category: orderCategory,
    codec: orderCodec,
    types: ['OrderPlaced'],
    asks: async (event) => {
      const dueAt = new Date(event.data.expires_at);
      // Not looked at before: an order that is paid meanwhile costs no reading while it waits.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      return (await expireOrder.isUnpaid(streamIdOf(event))) ? 'yes' : 'no';
    },
    conclude: (event, context) => expireOrder.expire(streamIdOf(event), context),
  };
}
