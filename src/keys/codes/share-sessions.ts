import type { Keyring } from '../rings/keyring.js';
import type { Digests, RandomBytes } from '../sealing/digests.js';
import { countField, kidField, makeMacTokens, uuidField } from './mac-tokens.js';

export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns random characters with equal probabilities: it discards bytes beyond the largest multiple of 62. */
export function randomBase62(randomBytes: RandomBytes, length: number): string {
  const bound = 256 - (256 % base62Alphabet.length);
  let characters = '';
  while (characters.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < bound) characters += base62Alphabet.charAt(byte % base62Alphabet.length);
    }
  }
  return characters.slice(0, length);
}

/** Characters of a token: 131 random bits. */
const shareTokenLength = 22;

/** Makes the token of a new share, which its URL contains (src/areas/shares/README.md#rules-of-a-share). */
export function makeShareToken(randomBytes: RandomBytes): string {
  return randomBase62(randomBytes, shareTokenLength);
}

/** Returns the digest that finds a share. Every text has one, but only tokens of this service belong to a share. */
export function digestShareToken(digests: Pick<Digests, 'of'>, token: string): string {
  return digests.of('share-token', token);
}

/** The session of a visitor who gave the right password of a share. */
export interface ShareSession {
  readonly shareId: string;
  /** The access that began the session. */
  readonly accessId: string;
  /** The generation of the password that the visitor gave. A new password ends the session. */
  readonly passwordGeneration: number;
  /** The end, in whole milliseconds. */
  readonly endsAt: Date;
}

/**
 * Tokens of visitors' sessions (src/areas/shares/README.md#share-verification): `s1.<share id>.<access id>.<password generation>.<end,
 * epoch milliseconds>.<key id>.<mac>`. No store holds a session. The share decides whether that password still opens it.
 */
export type ShareSessions = ReturnType<typeof makeShareSessions>;

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys outlast every session */
export function makeShareSessions(keys: Keyring) {
  const tokens = makeMacTokens(keys, {
    ...{ prefix: 's1', purpose: 'share session' },
    fields: {
      ...{ shareId: uuidField, accessId: uuidField, passwordGeneration: countField },
      ...{ end: '[1-9][0-9]{0,14}', kid: kidField },
    },
  });
  return {
    issue: ({ endsAt, ...session }: ShareSession) =>
      tokens.issue({ ...session, end: endsAt.getTime(), kid: keys.active().kid }),
    /** Returns the session of a token of this service that has not ended, or null. It runs in constant time. */
    verify: (token: string, now: Date): ShareSession | null => {
      const found = tokens.verify(token);
      if (found === null) return null;
      const { shareId, accessId, passwordGeneration, end } = found;
      const endsAt = new Date(Number(end));
      return now < endsAt
        ? { shareId, accessId, passwordGeneration: Number(passwordGeneration), endsAt }
        : null;
    },
  };
}
