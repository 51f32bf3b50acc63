import type { Keyring } from '../../keys/rings/keyring.js';
import type { RandomBytes } from '../../keys/sealing/random-bytes.js';
import { guessing } from '../guessing/guessing.js';
import { makeHashLane } from './hash-lane.js';
import type { HashPool } from './hash-pool.js';
import { makePasswords, type Passwords } from './passwords.js';
import type { ScryptParameters } from './scrypt.js';

/** 16 MiB and one pass: docs/design.md#share-passwords. */
export const sharePasswordScrypt: ScryptParameters = { N: 2 ** 14, r: 8, p: 1 };

export interface SharePasswords {
  /** For clients that have not failed at the share before, and for new passwords. */
  readonly fresh: Passwords;
  /** For clients that failed before, and for shares that do not open: `suspectsMax` at once, behind all others. */
  readonly suspect: Passwords;
}

/**
 * @param pool for shares only: a flood of visitors delays no sign-in
 * @param parameters of new hashes; `sharePasswordScrypt` when left out
 */
export function makeSharePasswords({
  pool,
  parameters = sharePasswordScrypt,
  ...deps
}: {
  readonly pool: HashPool;
  readonly peppers: Keyring;
  readonly randomBytes: RandomBytes;
  readonly parameters?: ScryptParameters;
}): SharePasswords {
  const lane = makeHashLane(pool, guessing.sharePassword.pool.suspectsMax);
  return {
    fresh: makePasswords({ ...deps, pool, parameters }),
    suspect: makePasswords({ ...deps, pool: lane, parameters }),
  };
}
