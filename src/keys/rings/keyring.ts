import { KeyProblem } from '../sealing/errors.js';

/** The users and shares whose password is hashed with a pepper. */
export interface PepperedPasswords {
  readonly users: number;
  readonly shares: number;
  /** A few of these shares, so that the operator can find their owners. */
  readonly someShares: readonly { readonly shareId: string; readonly projectId: string }[];
}

/** The consequence of a missing pepper for the passwords that are hashed with it. */
export const pepperAdvice =
  'a user whose password is hashed with it can sign in only by a mailed code, and choose a new password; a share whose ' +
  'password is hashed with it stays closed until its password is set again';

/** Explains why a pepper is still needed, and what to do; null when no password needs it. */
export function explainNeededPepper(
  kid: string,
  { users, shares, someShares }: PepperedPasswords,
): string | null {
  if (users === 0 && shares === 0) return null;
  const some = someShares.map(({ shareId, projectId }) => `${shareId} of project ${projectId}`);
  const parts = [
    users === 0
      ? []
      : [`the password of ${count(users, 'user')} is hashed with it, until its owner next signs in with it`],
    shares === 0
      ? []
      : [
          `the password of ${count(shares, 'share')} is hashed with it, until it is set again or the share is revoked ` +
            `(${some.join(', ')}${shares > some.length ? ', …' : ''})`,
        ],
  ].flat();
  return `${kid} is still needed: ${parts.join('; ')}. --force retires it all the same: then ${pepperAdvice}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A key and its id. The id is public: tokens, hashes and records contain it. */
export type RingKey = { readonly kid: string; readonly key: Buffer };

/** Keys of one purpose. The active key signs and seals new values; all keys verify and open old ones. */
export interface Keyring {
  active(): RingKey;
  find(kid: string): Buffer | undefined;
  /** Returns all keys, the active one first. */
  all(): readonly RingKey[];
}

/** Letters, digits and hyphens: these fit into tokens, PHC strings and sealed values without escaping. */
export const kidPattern = /^[A-Za-z0-9-]{1,32}$/;

const base64urlPattern = /^[A-Za-z0-9_-]+$/;

/** Decodes canonical base64url without padding. Returns null for any other text. */
export function decodeBase64url(text: string): Buffer | null {
  if (!base64urlPattern.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/** The first key is the active one. @throws KeyProblem when there is no key, or when an id occurs twice */
export function makeKeyring(keys: readonly RingKey[]): Keyring {
  const [first] = keys;
  if (first === undefined) throw new KeyProblem('a key list is empty; it needs at least one key');
  const byKid = new Map(keys.map(({ kid, key }) => [kid, key]));
  if (byKid.size < keys.length) throw new KeyProblem('a key list names the same key id twice');
  return { active: () => first, find: (kid) => byKid.get(kid), all: () => keys };
}

/**
 * Parses a list of `kid:base64url`, separated by commas or white space. The first key is the active one.
 * @param name the name of the list in errors, for example `MASTER_KEYS`
 * @param bytes the exact length of every key
 * @throws KeyProblem, which names every problem by the number of the entry, never by its text
 */
export function parseKeyring(text: string, { name, bytes }: { name: string; bytes: number }): Keyring {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.length === 0)
    throw new KeyProblem(`${name} is empty; give it a list of kid:base64url, the active key first`);
  const problems: string[] = [];
  const keys: RingKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const where = `${name}, entry ${index + 1}`;
    const colon = entry.indexOf(':');
    // Without a colon the whole entry may be a key, so the message quotes nothing of it.
    if (colon < 0) {
      problems.push(`${where}: not of the form kid:base64url`);
      continue;
    }
    const kid = entry.slice(0, colon);
    const key = decodeBase64url(entry.slice(colon + 1));
    if (!kidPattern.test(kid)) {
      problems.push(`${where}: the key id is not 1 to 32 letters, digits and hyphens`);
    } else if (key === null) {
      problems.push(`${where}: the key is not base64url without padding`);
    } else if (key.length !== bytes) {
      problems.push(`${where}: the key has ${key.length} bytes, it must have ${bytes}`);
    } else if (keys.some((other) => other.kid === kid)) {
      problems.push(`${where}: its key id occurs twice; every key needs a different id`);
    } else {
      keys.push({ kid, key });
    }
  }
  if (problems.length > 0) throw new KeyProblem(problems.join('; '));
  return makeKeyring(keys);
}

/** Returns the text of one entry of a list, in the form that `parseKeyring` reads. */
export function formatRingKey({ kid, key }: RingKey): string {
  return `${kid}:${key.toString('base64url')}`;
}
