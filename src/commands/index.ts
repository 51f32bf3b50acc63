import { makeAccountCommands } from './accounts/index.js';
import { makeAssetCommands } from './assets/index.js';
import { makeRestartAuditLog } from './audit/restart-audit-log.js';
import { makeNodeCommands } from './nodes/index.js';
import { makeOrderCommands } from './orders/index.js';
import type { CallbackNotices } from './orders/receive-payment-callback.js';
import { makeProjectCommands } from './projects/index.js';
import { makeFindAccount } from './shared/find-account.js';
import { makeProjectPlaces } from './shared/place-limits.js';
import { makeShareCommands } from './shares/index.js';
import { makeStorageCommands } from './storages/index.js';
import type { Deps } from './deps.js';

export type Commands = ReturnType<typeof makeCommands>;

export function makeCommands(deps: Deps & CallbackNotices) {
  const findAccount = makeFindAccount(deps);
  const projectPlaces = makeProjectPlaces(deps);
  return {
    ...makeAccountCommands({ ...deps, projectPlaces, findAccount }),
    ...makeProjectCommands({ ...deps, places: projectPlaces, findAccount }),
    ...makeStorageCommands(deps),
    ...makeAssetCommands(deps),
    ...makeShareCommands(deps),
    ...makeOrderCommands(deps),
    ...makeNodeCommands(deps),
    restartAuditLog: makeRestartAuditLog(deps),
  };
}
