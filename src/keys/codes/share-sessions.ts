import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../rings/keyring.js';
import type { Digests, RandomBytes } from '../sealing/digests.js';

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
export interface ShareSessions {
  issue(session: ShareSession): string;
  /** Returns the session of a token of this service that has not ended, or null. It runs in constant time. */
  verify(token: string, now: Date): ShareSession | null;
}

/** Separates these macs from all others that the ring makes. */
const purpose = 'share session';

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** The mac covers the prefix too, so no part can be left out or added. */
const tokenPattern = new RegExp(
  String.raw`^s1\.(${id})\.(${id})\.([1-9][0-9]{0,8})\.([1-9][0-9]{0,14})\.([A-Za-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$`,
);

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys outlast every session */
export function makeShareSessions(keys: Keyring): ShareSessions {
  function macOf(key: Buffer, body: string): string {
    return createHmac('sha256', key)
      .update(JSON.stringify([purpose, body]))
      .digest('base64url');
  }

  return {
    issue: ({ shareId, accessId, passwordGeneration, endsAt }) => {
      const { kid, key } = keys.active();
      const body = `s1.${shareId}.${accessId}.${passwordGeneration}.${endsAt.getTime()}.${kid}`;
      return `${body}.${macOf(key, body)}`;
    },

    verify: (token, now) => {
      const [, shareId, accessId, generation, end, kid, mac] = tokenPattern.exec(token) ?? [];
      if (shareId === undefined || accessId === undefined || kid === undefined || mac === undefined)
        return null;
      const key = keys.find(kid);
      if (key === undefined) return null;
      // Compares text, so that only the canonical spelling of the mac passes.
      const expected = macOf(key, token.slice(0, -mac.length - 1));
      if (!timingSafeEqual(Buffer.from(expected), Buffer.from(mac))) return null;
      const endsAt = new Date(Number(end));
      return now < endsAt ? { shareId, accessId, passwordGeneration: Number(generation), endsAt } : null;
    },
  };
}
