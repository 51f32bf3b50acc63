import type { Deps } from '../deps.js';
import { isOpen, openOrdersMax, orderAggregate } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import { rejectStorage } from '../../domain/storage/rejections.js';
import { storageAggregate, storagesMax } from '../../domain/storage/storage.js';
import { makePlaces, type Places } from './places.js';

type PlaceDeps = Pick<Deps, 'stateStore' | 'clock' | 'handler'>;

/** Limits the storages of a project (docs/design.md#places). `take` throws CommandRejected storage_limit_reached. */
export function makeStoragePlaces({ storages, ...deps }: PlaceDeps & Pick<Deps, 'storages'>): Places {
  return makePlaces({
    ...deps,
    name: 'places/storages',
    max: storagesMax,
    inView: (projectId, limit) => storages.ids(projectId, limit),
    inLog: async (storageId) => {
      const { state } = await deps.handler.load(storageAggregate, storageId);
      if (state.status === 'absent') return 'absent';
      return state.status === 'deleted' ? 'holds-none' : 'holds-a-place';
    },
    refuse: () => rejectStorage('storage_limit_reached', `a project has at most ${storagesMax} storages`),
  });
}

/** Limits the open orders of a user (docs/design.md#places). `take` throws CommandRejected order_limit_reached. */
export function makeOrderPlaces({ orders, ...deps }: PlaceDeps & Pick<Deps, 'orders'>): Places {
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
