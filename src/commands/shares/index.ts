import type { Deps } from '../deps.js';
import { makeChangeShare, makeRevokeShare } from './change-share.js';
import { makeCreateShare } from './create-share.js';
import { makeDestroyShareKey } from './destroy-share-key.js';
import { makeOpenStorage } from '../storages/open-storage.js';
import { makeRecordShareAccess } from './record-share-access.js';
import { makeRenewShareMedia } from './renew-share-media.js';
import { makeRevokeOrphanedShares } from './revoke-orphaned-shares.js';
import { makeFindSharedAsset } from './shared-asset.js';
import { makeSignSharedMedia } from './sign-shared-media.js';
import { makeTrySharePassword } from './try-share-password.js';
import { makeVerifyShare } from './verify-share.js';
import { makeSharedRateLimiter } from '../../security/shared-rate-limit.js';
import type { PasswordClass } from '../../domain/share/password.js';
import { makeDailyBudget } from '../../security/daily-budget.js';
import { makeGuardedTries } from '../../security/guarded-tries.js';
import { guessing } from '../../security/guessing.js';

export function makeShareCommands(deps: Deps) {
  const { daily } = guessing.sharePassword;
  const budgetOf = (name: PasswordClass) =>
    makeDailyBudget({ ...deps, name: `share-${name}`, limit: daily[name] });
  const openStorage = makeOpenStorage(deps);
  const recordShareAccess = makeRecordShareAccess(deps);
  const common = {
    ...deps,
    findSharedAsset: makeFindSharedAsset(deps),
    signSharedMedia: makeSignSharedMedia({ openStorage }),
    recordShareAccess,
    trySharePassword: makeTrySharePassword({
      ...deps,
      budgets: { short: budgetOf('short'), long: budgetOf('long') },
      tries: makeGuardedTries({ ...deps, ...guessing.sharePassword.failures }),
      pressure: makeSharedRateLimiter({
        ...deps,
        kind: 'pressure',
        limits: { share: guessing.sharePassword.pressure.limit },
      }),
      onUncheckable: (error) => {
        deps.onFailure(`the password of a share could not be checked: ${error.message}`, error);
      },
    }),
  };
  return {
    createShare: makeCreateShare(common),
    changeShare: makeChangeShare(common),
    revokeShare: makeRevokeShare(common),
    verifyShare: makeVerifyShare(common),
    renewShareMedia: makeRenewShareMedia(common),
    revokeOrphanedShares: makeRevokeOrphanedShares(common),
    destroyShareKey: makeDestroyShareKey(deps),
    recordShareAccess,
  };
}
