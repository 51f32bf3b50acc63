import type { ShareDeps } from '../deps.js';
import { makeSharedRateLimiter } from '../../../security/rates/shared-rate-limit.js';
import { makeGuard } from '../../../security/guessing/guard.js';
import { guessing } from '../../../security/guessing/guessing.js';
import { makeOpenAssetStorage } from '../../assets/commands/add-asset.js';
import { makePlaylistUrl } from '../../assets/commands/media/media-links.js';
import { makeRequireProved } from '../../projects/commands/require-proved.js';
import { makeOpenStorage } from '../../storages/commands/open-storage.js';
import type { PasswordClass } from '../domain/share/password.js';
import { makeCountShareMails, makeMailShare } from './mails/mail-share.js';
import { makeServePlaylist } from './playlists/serve-playlist.js';
import { makeSharing } from './sharing.js';
import { makeAccesses, makeVisits } from './visiting/visits.js';
import { makeSharedMedia } from './visiting/media.js';
import { makeTrySharePassword } from './visiting/try-share-password.js';
import { makeVerifyShare } from './visiting/verify-share.js';

export type ShareCommands = ReturnType<typeof makeShareCommands>;

export function makeShareCommands(deps: ShareDeps) {
  const guardOf = (name: PasswordClass) =>
    makeGuard({ ...deps, name: `share-${name}`, limits: guessing.sharePassword.failures[name] });
  const openStorage = makeOpenStorage(deps);
  const playlistUrl = makePlaylistUrl(deps);
  const visits = makeVisits(deps);
  const accesses = makeAccesses(deps);
  const media = makeSharedMedia({ ...deps, ...visits, ...accesses, openStorage, playlistUrl });
  const trySharePassword = makeTrySharePassword({
    ...deps,
    guards: { short: guardOf('short'), long: guardOf('long') },
    onUncheckable: (error) => {
      deps.onFailure(`the password of a share could not be checked: ${error.message}`, error);
    },
  });
  const limiter = makeSharedRateLimiter({ ...deps, limits: deps.shareMailLimits });
  const common = { ...deps, ...visits };
  return {
    ...makeSharing(deps),
    verifyShare: makeVerifyShare({ ...common, ...media, ...accesses, trySharePassword }),
    visitorOf: visits.visitorOf,
    describeShared: visits.describeShared,
    findFraming: visits.findFraming,
    renewShareMedia: media.renewShareMedia,
    mailShare: makeMailShare({
      ...common,
      requireProved: makeRequireProved(deps),
      countShareMails: makeCountShareMails({ limiter }),
    }),
    recordCountedAccesses: accesses.recordCountedAccesses,
    servePlaylist: makeServePlaylist({
      ...common,
      playlistUrl,
      openAssetStorage: makeOpenAssetStorage({ openStorage }),
    }),
  };
}
