import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { isOpen, openOrdersMax, orderAggregate } from '../domain/order/order.js';
import { rejectOrder } from '../domain/order/rejections.js';
import type { OrderReader } from '../../projections/orders/reader.js';
import { makePlaces, type Places } from './places.js';

/**
 * The places for open orders of a user (DESIGN 4.5).
 * `take` throws CommandRejected order_limit_reached.
 */
export function makeOrderPlaces({
  handler,
  stateStore,
  orders,
  clock,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly stateStore: StateStore;
  readonly orders: Pick<OrderReader, 'openIds'>;
  readonly clock: Clock;
}): Places {
  return makePlaces({
    stateStore,
    clock,
    name: 'places/orders',
    max: openOrdersMax,
    shown: (userId, limit) => orders.openIds(userId, limit),
    look: async (orderId) => {
      const { state } = await handler.load(orderAggregate, orderId);
      if (state.status === 'absent') return 'absent';
      return isOpen(state) ? 'holds-a-place' : 'holds-none';
    },
    refuse: () =>
      rejectOrder('order_limit_reached', `a user has at most ${openOrdersMax} orders that are not paid`),
  });
}
