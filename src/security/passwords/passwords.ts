import { createHmac, timingSafeEqual } from 'node:crypto';
import { Overloaded } from '../../kit/semaphore.js';
import { KeyMissing } from '../../keys/sealing/errors.js';
import type { Keyring } from '../../keys/rings/keyring.js';
import type { RandomBytes } from '../../keys/sealing/digests.js';
import type { TryingClient } from '../guessing/guard.js';
import type { HashPool } from './hash-pool.js';
import { type PasswordHash, type ScryptParameters, formatPasswordHash, parsePasswordHash } from './scrypt.js';

/** 32 MiB and three passes: one of the settings in the OWASP Password Storage Cheat Sheet. */
export const passwordScrypt: ScryptParameters = { N: 2 ** 15, r: 8, p: 3 };
/** 16 MiB and one pass: src/security/README.md#passwords. */
export const sharePasswordScrypt: ScryptParameters = { N: 2 ** 14, r: 8, p: 1 };

const saltBytes = 16;
const hashBytes = 32;

export interface PasswordVerdict {
  readonly matches: boolean;
  /** The password matches a hash with other parameters or an older pepper: the caller should hash it again. */
  readonly needsRehash: boolean;
}

type By = TryingClient | null | undefined;

export type Passwords = ReturnType<typeof makePasswords>;

/**
 * Hashes passwords: scrypt (RFC 7914) over HMAC-SHA-256 of the NFC password with a pepper. No store has the pepper. `by` decides
 * which hashes go first, as in `HashPool`; without it one goes last.
 * @param parameters of new hashes; `passwordScrypt` when left out
 */
export function makePasswords(deps: {
  readonly peppers: Keyring;
  readonly pool: HashPool;
  readonly randomBytes: RandomBytes;
  readonly parameters?: ScryptParameters;
}) {
  const { peppers, pool, randomBytes, parameters = passwordScrypt } = deps;
  const { N, r, p } = parameters;

  function compute(
    password: string,
    pepper: Buffer,
    { salt, ...cost }: ScryptParameters & { salt: Buffer },
    by: By,
  ): Promise<Buffer> {
    const peppered = createHmac('sha256', pepper).update(password.normalize('NFC'), 'utf8').digest();
    return pool.hash({ password: peppered, salt, N: cost.N, r: cost.r, p: cost.p, length: hashBytes }, by);
  }

  function isOutdated(stored: PasswordHash): boolean {
    const sameCost = stored.N === N && stored.r === r && stored.p === p;
    return !sameCost || stored.pepper !== peppers.active().kid;
  }

  return {
    /** Returns a PHC string, as `formatPasswordHash` does. Its caller seals it. @throws Overloaded */
    hash: async (password: string, by?: By): Promise<string> => {
      const { kid, key } = peppers.active();
      const salt = randomBytes(saltBytes);
      const hash = await compute(password, key, { N, r, p, salt }, by);
      return formatPasswordHash({ N, r, p, pepper: kid, salt, hash });
    },
    /** @throws Overloaded; KeyMissing when `PEPPERS` lacks the hash's pepper; TypeError when `stored` is no hash */
    verify: async (password: string, stored: string, by?: By): Promise<PasswordVerdict> => {
      const parsed = parsePasswordHash(stored);
      if (parsed === null) throw new TypeError('a stored password hash is not readable');
      const pepper = peppers.find(parsed.pepper);
      if (pepper === undefined)
        throw new KeyMissing(`pepper ${parsed.pepper} is not in PEPPERS; put it back`);
      const matches = timingSafeEqual(await compute(password, pepper, parsed, by), parsed.hash);
      return { matches, needsRehash: matches && isOutdated(parsed) };
    },
    /** Takes as long as `verify`, for an account that does not exist. @throws Overloaded */
    verifyNone: async (password: string, by?: By): Promise<PasswordVerdict> => {
      const salt = randomBytes(saltBytes);
      const hash = await compute(password, peppers.active().key, { N, r, p, salt }, by);
      // Compares with zeros, to take as long as `verify`.
      timingSafeEqual(hash, Buffer.alloc(hashBytes));
      return { matches: false, needsRehash: false };
    },
    /** Call it before a write, so that a check that the pool refuses leaves no record. @throws Overloaded */
    requireRoom: (by?: By): void => {
      if (!pool.hasRoom(by)) throw new Overloaded('too many passwords are being checked');
    },
  };
}
