import type { Digests } from './digests.js';
import { randomBase62 } from './random-base62.js';
import type { RandomBytes } from './random-bytes.js';

/** Characters of a token: 131 random bits. */
export const shareTokenLength = 22;

/** A new share's token, which stands in its URL (DESIGN 4.4). */
export function makeShareToken(randomBytes: RandomBytes): string {
  return randomBase62(randomBytes, shareTokenLength);
}

/** What a share is found by. Any text has a digest; only tokens of ours are some share's. */
export function digestShareToken(digests: Pick<Digests, 'of'>, token: string): string {
  return digests.of('share-token', token);
}
