import type { Digests } from '../sealing/digests.js';
import { randomBase62 } from './random-base62.js';
import type { RandomBytes } from '../sealing/random-bytes.js';

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
