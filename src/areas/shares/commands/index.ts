import type { ShareDeps } from '../deps.js';
import { makeMailShare } from './mails/mail-share.js';
import { makeServePlaylist } from './playlists/serve-playlist.js';
import { makeSharing } from './sharing.js';
import { makeAccesses, makeVisits } from './visiting/visits.js';
import { makeSharedMedia, makeVerifyShare } from './visiting/verify-share.js';

export type ShareCommands = ReturnType<typeof makeShareCommands>;

export function makeShareCommands(deps: ShareDeps) {
  const common = { ...deps, ...makeVisits(deps), ...makeAccesses(deps) };
  const media = makeSharedMedia(common);
  const { visitorOf, describeShared, findFraming, findSharedAssets, recordCountedAccesses } = common;
  return {
    ...makeSharing(deps),
    verifyShare: makeVerifyShare({ ...common, ...media }),
    ...{ visitorOf, describeShared, findFraming, findSharedAssets, recordCountedAccesses },
    renewShareMedia: media.renewShareMedia,
    mailShare: makeMailShare(common),
    servePlaylist: makeServePlaylist(common),
  };
}
