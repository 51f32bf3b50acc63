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
