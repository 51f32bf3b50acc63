import type { Deps } from '../deps.js';
import { makeChangeShare, makeRevokeShare } from './change-share.js';
import { makeCreateShare } from './create-share.js';
import { makeDescribeShared, makeFindFrameAncestors } from './describe-shared.js';
import { makeDestroyShareKey } from './destroy-share-key.js';
import { makePlaylistUrl } from '../assets/playlist-urls.js';
import { makeMailShare } from './mail-share.js';
import { makeFindVisitedShare } from './find-visited-share.js';
import { makeRequireProved } from '../projects/require-proved.js';
import { makeOpenStorage } from '../storages/open-storage.js';
import { makeRecordShareAccess } from './record-share-access.js';
import { makeFindShareOfSession, makeRenewShareMedia } from './renew-share-media.js';
import { makeRequireOpenShares } from './require-open-shares.js';
import { makeRevokeOrphanedShares } from './revoke-orphaned-shares.js';
import { makeCountShareMails } from './share-mail-limits.js';
import { makeFindSharedAssets } from '../shared/shared-asset.js';
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
  const findSharedAssets = makeFindSharedAssets(deps);
  const findVisitedShare = makeFindVisitedShare({ ...deps, findSharedAssets });
  const common = {
    ...deps,
    findVisitedShare,
    requireOpenShares: makeRequireOpenShares(deps),
    findShareOfSession: makeFindShareOfSession({ ...deps, findSharedAssets }),
    signSharedMedia: makeSignSharedMedia({ openStorage, playlistUrl: makePlaylistUrl(deps) }),
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
    describeShared: makeDescribeShared(common),
    findFrameAncestors: makeFindFrameAncestors(common),
    revokeOrphanedShares: makeRevokeOrphanedShares(common),
    mailShare: makeMailShare({
      ...deps,
      findSharedAssets,
      requireProved: makeRequireProved(deps),
      countShareMails: makeCountShareMails({
        limiter: makeSharedRateLimiter({ ...deps, limits: deps.shareMailLimits }),
      }),
    }),
    destroyShareKey: makeDestroyShareKey(deps),
    recordShareAccess,
  };
}
