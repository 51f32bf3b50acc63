import { isOpen, openOrdersMax, orderAggregate } from '../domain/order/order.js';
import { rejectOrder } from '../domain/order/rejections.js';
import { makePlaces, type Places } from '../../shared/places.js';
import type { PaymentDeps } from '../deps.js';

/** Limits the open orders of a user (src/areas/projects/README.md#places). `take` throws CommandRejected order_limit_reached. */
export function makeOrderPlaces({
  orders,
  ...deps
}: Pick<PaymentDeps, 'stateStore' | 'clock' | 'handler' | 'orders'>): Places {
  return makePlaces({
    ...deps,
    name: 'places/orders',
    max: openOrdersMax,
    inView: (userId, limit) => orders.openIds(userId, limit),
    inLog: async (orderId) => {
      const { state } = await deps.handler.load(orderAggregate, orderId);
      if (state.status === 'absent') return 'absent';
      return isOpen(state) ? 'holds-a-place' : 'holds-none';
    },
    refuse: () =>
      rejectOrder('order_limit_reached', `a user has at most ${openOrdersMax} orders that are not paid`),
  });
}
