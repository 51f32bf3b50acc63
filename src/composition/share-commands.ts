import type { Background } from '../commands/background.js';
import { makeChangeShare, makeRevokeShare } from '../commands/change-share.js';
import { makeCreateShare } from '../commands/create-share.js';
import { makeDestroyShareKey } from '../commands/destroy-share-key.js';
import { makeOpenStorage } from '../commands/open-storage.js';
import { makeRecordShareAccess } from '../commands/record-share-access.js';
import { makeRenewShareMedia } from '../commands/renew-share-media.js';
import { makeRevokeOrphanedShares } from '../commands/revoke-orphaned-shares.js';
import { makeShareOwnership } from '../commands/share-ownership.js';
import { makeFindSharedAsset } from '../commands/shared-asset.js';
import { makeSignSharedMedia } from '../commands/sign-shared-media.js';
import { makeTrySharePassword } from '../commands/try-share-password.js';
import { makeVerifyShare } from '../commands/verify-share.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { makeStorageUrls } from '../integrations/object-storage/media-urls.js';
import type { Digests } from '../keys/digests.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { Sealer } from '../keys/sealer.js';
import type { ShareSessions } from '../keys/share-sessions.js';
import { makeFailurePressure } from '../security/failure-pressure.js';
import { shareThrottle } from '../security/failure-throttle.js';
import { makeGuardedTries } from '../security/guarded-tries.js';
import type { SharePasswords } from '../security/share-passwords.js';
import type { Readers } from './readers.js';

/** Failures of all clients together beyond which a share is slowed down. */
const pressureLimit = { limit: 30, seconds: 900 } as const;

/** Puts together what members do with shares, and visitors. */
export function makeShareCommands(deps: {
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly stateStore: StateStore;
  readonly randomBytes: RandomBytes;
  readonly readers: Pick<Readers, 'shares' | 'assets'>;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly sharePasswords: SharePasswords;
  readonly shareSessions: ShareSessions;
  readonly background: Background;
  /** Told of what an operator has to look at. */
  readonly onFailure: (what: string, error: unknown) => void;
}) {
  const openStorage = makeOpenStorage({ ...deps, makeUrls: makeStorageUrls });
  const recordShareAccess = makeRecordShareAccess(deps);
  const common = {
    ...deps,
    ...deps.readers,
    ownership: makeShareOwnership(deps),
    findSharedAsset: makeFindSharedAsset(deps),
    signSharedMedia: makeSignSharedMedia({ openStorage }),
    recordShareAccess,
    trySharePassword: makeTrySharePassword({
      ...deps,
      tries: makeGuardedTries({ ...deps, name: 'share', limits: shareThrottle }),
      pressure: makeFailurePressure({ ...deps, name: 'share', limit: pressureLimit }),
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
