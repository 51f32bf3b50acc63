import type { ShareDeps } from '../deps.js';
import { makeChangeShare, makeRevokeShare } from './change-share.js';
import { makeCreateShare } from './create-share.js';
import { makeDescribeShared, makeFindFrameAncestors } from './visiting/describe-shared.js';
import { makeDestroyShareKey } from './destroy-share-key.js';
import { makePlaylistUrl } from '../../assets/commands/media/playlist-urls.js';
import { makeMailShare } from './mails/mail-share.js';
import { makeFindVisitedShare } from './visiting/find-visited-share.js';
import { makeRequireProved } from '../../projects/commands/require-proved.js';
import { makeOpenStorage } from '../../storages/commands/open-storage.js';
import { makeRecordShareAccess } from './visiting/record-share-access.js';
import { makeFindShareOfSession, makeRenewShareMedia } from './visiting/renew-share-media.js';
import { makeRequireOpenShares } from './require-open-shares.js';
import { makeRevokeOrphanedShares } from './revoke-orphaned-shares.js';
import { makeCountShareMails } from './mails/share-mail-limits.js';
import { makeFindSharedAssets } from './visiting/shared-asset.js';
import { makeServePlaylist } from './playlists/serve-playlist.js';
import { makeOpenAssetStorage } from '../../assets/commands/asset-storage.js';
import { makeSignSharedMedia } from './visiting/sign-shared-media.js';
import { makeTrySharePassword } from './visiting/try-share-password.js';
import { makeVerifyShare } from './visiting/verify-share.js';
import { makeEndingFor, makeVisitorOf } from './visiting/visitor-of.js';
import { makeSharedRateLimiter } from '../../../security/rates/shared-rate-limit.js';
import type { PasswordClass } from '../domain/share/password.js';
import { makeGuard } from '../../../security/guessing/guard.js';
import { guessing } from '../../../security/guessing/guessing.js';

export type ShareCommands = ReturnType<typeof makeShareCommands>;

export function makeShareCommands(deps: ShareDeps) {
  const guardOf = (name: PasswordClass) =>
    makeGuard({ ...deps, name: `share-${name}`, limits: guessing.sharePassword.failures[name] });
  const openStorage = makeOpenStorage(deps);
  const recordShareAccess = makeRecordShareAccess(deps);
  const findSharedAssets = makeFindSharedAssets(deps);
  const findVisitedShare = makeFindVisitedShare({ ...deps, findSharedAssets });
  const playlistUrl = makePlaylistUrl(deps);
  const common = {
    ...deps,
    findVisitedShare,
    requireOpenShares: makeRequireOpenShares(deps),
    findShareOfSession: makeFindShareOfSession({ ...deps, findSharedAssets }),
    signSharedMedia: makeSignSharedMedia({ openStorage, playlistUrl }),
    recordShareAccess,
    trySharePassword: makeTrySharePassword({
      ...deps,
      guards: { short: guardOf('short'), long: guardOf('long') },
      onUncheckable: (error) => {
        deps.onFailure(`the password of a share could not be checked: ${error.message}`, error);
      },
    }),
  };
  return {
    createShare: makeCreateShare(common),
    changeShare: makeChangeShare(common),
    revokeShare: makeRevokeShare(common),
    verifyShare: makeVerifyShare({ ...common, endingFor: makeEndingFor(deps) }),
    visitorOf: makeVisitorOf(deps),
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
    servePlaylist: makeServePlaylist({
      ...common,
      playlistUrl,
      findSharedAssets,
      openAssetStorage: makeOpenAssetStorage({ openStorage }),
    }),
  };
}
