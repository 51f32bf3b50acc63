import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62Alphabet as alphabet, randomBase62 } from '../keys/random-base62.js';
import type { RandomBytes } from '../keys/random-bytes.js';

/** What is kept of a key, and what may be shown of it. */
export interface ApiKeyParts {
  /** SHA-256, 64 lower-case hexadecimal digits: the key has 190 random bits, so nobody finds it by trying. */
  readonly digest: string;
  /** The first 8 characters. */
  readonly prefix: string;
  readonly lastFour: string;
}

/** A new key, as its owner sees it this one time. */
export interface NewApiKey extends ApiKeyParts {
  readonly key: string;
}

const secretLength = 32;
const checksumLength = 6;
const keyPattern = /^stw_[0-9A-Za-z]{38}$/;

/** Makes a key: `stw_`, 32 random base62 characters, and the CRC-32 of all these as 6 more (DESIGN 4.2). */
export function makeApiKey(randomBytes: RandomBytes): NewApiKey {
  const body = `stw_${randomBase62(randomBytes, secretLength)}`;
  const key = body + checksumOf(body);
  return { key, ...partsOf(key) };
}

/**
 * Reads what was presented; null when it cannot be a key of ours, which is found out without asking a store. Anybody can
 * make a right checksum: it tells typing errors and leaked keys apart from noise and proves nothing.
 */
export function parseApiKey(text: string): ApiKeyParts | null {
  if (!keyPattern.test(text)) return null;
  const [body, checksum] = [text.slice(0, -checksumLength), text.slice(-checksumLength)];
  return checksumOf(body) === checksum ? partsOf(text) : null;
}

function partsOf(key: string): ApiKeyParts {
  return {
    digest: createHash('sha256').update(key).digest('hex'),
    prefix: key.slice(0, 8),
    lastFour: key.slice(-4),
  };
}

/** The CRC-32 (of gzip) in base62, most significant digit first. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
