import { makeAccountCommands } from './accounts/commands/index.js';
import { makeAssetCommands } from './assets/commands/index.js';
import { makeRestartAuditLog } from './audit/restart-audit-log.js';
import { makeNodeCommands } from './nodes/commands/index.js';
import { makeOrderCommands } from './payments/commands/index.js';
import type { CallbackNotices } from './payments/commands/callbacks/receive-payment-callback.js';
import { makeProjectCommands } from './projects/commands/index.js';
import { makeFindAccount } from './accounts/commands/signing-in/find-account.js';
import { makeProjectPlaces } from './shared/place-limits.js';
import { makeShareCommands } from './shares/commands/index.js';
import { makeStorageCommands } from './storages/commands/index.js';
import type { Deps } from './shared/deps.js';

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
