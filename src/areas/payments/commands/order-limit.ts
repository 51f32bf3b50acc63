import { type CountLimit, makeCountLimit } from '../../shared/count-limit.js';
import type { PaymentDeps } from '../deps.js';
import { isOpen, openOrdersMax, orderAggregate } from '../domain/order/order.js';
import { rejectOrder } from '../domain/order/rejections.js';

/** Limits the open orders of a user. `adding` throws CommandRejected order_limit_reached. A stale view refuses no order. */
export function makeOrderLimit({ handler, orders }: Pick<PaymentDeps, 'handler' | 'orders'>): CountLimit {
  return makeCountLimit({
    max: openOrdersMax,
    inView: (userId, limit) => orders.openIds(userId, limit),
    counts: async (orderId) => {
      const { state } = await handler.load(orderAggregate, orderId);
      return state.status !== 'absent' && isOpen(state);
    },
    refuse: () =>
      rejectOrder('order_limit_reached', `a user has at most ${openOrdersMax} orders that are not paid`),
  });
}
