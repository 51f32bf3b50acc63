import type { Deps } from './deps.js';
import { isOpen, openOrdersMax, orderAggregate } from '../payments/domain/order/order.js';
import { rejectOrder } from '../payments/domain/order/rejections.js';
import { ownedProjectsMax, projectAggregate } from '../projects/domain/project/project.js';
import { ownersOf } from '../projects/domain/project/status.js';
import { rejectProject } from '../projects/domain/project/rejections.js';
import { rejectStorage } from '../storages/domain/storage/rejections.js';
import { storageAggregate, storagesMax } from '../storages/domain/storage/storage.js';
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

/**
 * Limits the projects that a user owns or pays for (docs/design.md#places). `take` throws CommandRejected
 * project_limit_reached.
 */
export function makeProjectPlaces({ projects, ...deps }: PlaceDeps & Pick<Deps, 'projects'>): Places {
  return makePlaces({
    ...deps,
    name: 'places/projects',
    max: ownedProjectsMax,
    inView: (userId, limit) => projects.ownedIds(userId, limit),
    inLog: async (projectId, userId) => {
      const { state } = await deps.handler.load(projectAggregate, projectId);
      if (state.status === 'deleted') return 'holds-none';
      // A project of others may become the user's. One that the user has left never counts again by an old claim.
      return state.status === 'existing' && ownersOf(state).includes(userId) ? 'holds-a-place' : 'absent';
    },
    refuse: () =>
      rejectProject('project_limit_reached', `a user owns at most ${ownedProjectsMax} projects; delete one`),
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
