import type { Digests } from '../sealing/digests.js';
import type { RandomBytes } from '../sealing/random-bytes.js';

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
export const shareTokenLength = 22;

/** Makes the token of a new share, which its URL contains (src/areas/shares/README.md#rules-of-a-share). */
export function makeShareToken(randomBytes: RandomBytes): string {
  return randomBase62(randomBytes, shareTokenLength);
}

/** Returns the digest that finds a share. Every text has one, but only tokens of this service belong to a share. */
export function digestShareToken(digests: Pick<Digests, 'of'>, token: string): string {
  return digests.of('share-token', token);
}
