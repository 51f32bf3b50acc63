import type { Holdings } from './accounts/commands/erasing.js';
import { makeAccountCommands } from './accounts/commands/index.js';
import { makeAssetCommands } from './assets/commands/index.js';
import { makeRestartAuditLog } from './audit/restart-audit-log.js';
import { makeNodeCommands } from './nodes/commands/nodes.js';
import { makeOrderCommands } from './payments/commands/index.js';
import type { CallbackNotices } from './payments/commands/callbacks/callbacks.js';
import { makeProjectCommands } from './projects/commands/index.js';
import { makeFindAccount } from './accounts/commands/finding.js';
import { makeProjectLimit } from './projects/commands/projects.js';
import { makeShareCommands } from './shares/commands/index.js';
import { makeStorageCommands } from './storages/commands/index.js';
import { makeLeaving, makeProjectHoldings } from './projects/commands/leaving.js';
import type { OrdersOf } from '../../projections/payments/orders/reader.js';
import type { NodeDeps } from './nodes/deps.js';
import type { PaymentDeps } from './payments/deps.js';
import type { ShareDeps } from './shares/deps.js';

/** The collaborators of the use cases of all areas. */
export interface Deps extends ShareDeps, PaymentDeps, NodeDeps {}

export type Commands = ReturnType<typeof makeCommands>;

export function makeCommands(deps: Deps & CallbackNotices) {
  const findAccount = makeFindAccount(deps);
  const holdings = makeHoldings(deps);
  return {
    ...makeAccountCommands({ ...deps, findAccount, holdings }),
    ...makeProjectCommands({ ...deps, limit: makeProjectLimit(deps), findAccount }),
    ...makeStorageCommands({ ...deps, hasAssets: makeHasAssets(deps) }),
    ...makeAssetCommands(deps),
    ...makeShareCommands(deps),
    ...makeOrderCommands(deps),
    ...makeNodeCommands(deps),
    restartAuditLog: makeRestartAuditLog(deps),
  };
}

/** An asset that the view lacks would lose its storage. @throws Overloaded while the view lags */
function makeHasAssets({ assets, viewLags }: Deps) {
  // The caller reads other views at once, so the error is a rejection.
  return async (storageId: string) => {
    viewLags.requireFresh('assets');
    return assets.hasIn(storageId);
  };
}

/** What an account has in the areas above it: its projects, and its orders. */
function makeHoldings(deps: Deps): Holdings {
  const hasOrder = (of: OrdersOf) => deps.orders.anyKept(of);
  const { removeErasedMember } = makeLeaving(deps);
  const inProjects = makeProjectHoldings({ ...deps, removeErasedMember, hasOrder });
  return {
    ...inProjects,
    keepUnproved: async (userId, now) => (await hasOrder({ userId })) || inProjects.keepUnproved(userId, now),
  };
}
