import type { Keyring } from '../keys/keyring.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import { makeHashLane } from './hash-lane.js';
import type { HashPool } from './hash-pool.js';
import { makePasswords, type Passwords } from './passwords.js';
import type { ScryptParameters } from './scrypt.js';

/** DESIGN 4.4: 16 MiB and one pass. */
export const sharePasswordScrypt: ScryptParameters = { N: 2 ** 14, r: 8, p: 1 };
/** Hashes of share passwords that may wait (DESIGN 4.4). */
export const shareQueueMax = 128;

export interface SharePasswords {
  /** For whoever has not failed at the share before, and for passwords that are set. */
  readonly fresh: Passwords;
  /** For clients that failed before, and for shares that do not open: half of the queue, behind all others. */
  readonly suspect: Passwords;
}

/**
 * @param pool of their own: a flood of visitors holds up no sign-in
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
  const lane = makeHashLane(pool, shareQueueMax / 2);
  return {
    fresh: makePasswords({ ...deps, pool, parameters }),
    suspect: makePasswords({ ...deps, pool: lane, parameters }),
  };
}
