import { makeAccountCommands } from './accounts/index.js';
import { makeAssetCommands } from './assets/index.js';
import { makeRestartAuditLog } from './audit/restart-audit-log.js';
import { makeNodeCommands } from './nodes/index.js';
import { makeOrderCommands } from './orders/index.js';
import type { CallbackNotices } from './orders/receive-payment-callback.js';
import { makeProjectCommands } from './projects/index.js';
import { makeFindAccount } from './shared/find-account.js';
import { makePlaceLimits } from './shared/place-limits.js';
import { makeShareCommands } from './shares/index.js';
import { makeStorageCommands } from './storages/index.js';
import type { Deps } from './deps.js';

export type Commands = ReturnType<typeof makeCommands>;

export function makeCommands(deps: Deps & CallbackNotices) {
  const findAccount = makeFindAccount(deps);
  const limits = makePlaceLimits(deps);
  return {
    ...makeAccountCommands({ ...deps, ...limits, findAccount }),
    ...makeProjectCommands({ ...deps, ...limits, findAccount }),
    ...makeStorageCommands({ ...deps, ...limits }),
    ...makeAssetCommands(deps),
    ...makeShareCommands(deps),
    ...makeOrderCommands({ ...deps, ...limits }),
    ...makeNodeCommands(deps),
    restartAuditLog: makeRestartAuditLog(deps),
  };
}
