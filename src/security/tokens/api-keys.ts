import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62Alphabet as alphabet, randomBase62 } from '../../keys/codes/mac-tokens.js';
import type { RandomBytes } from '../../keys/sealing/digests.js';

/** The stored parts of a key. `prefix` and `last_four` may be shown. */
interface ApiKeyParts {
  /** SHA-256 in 64 lower-case hexadecimal digits. The key's 190 random bits make a search infeasible. */
  readonly digest: string;
  readonly prefix: string;
  readonly last_four: string;
}

/** A new key, which its owner sees only once. */
interface NewApiKey extends ApiKeyParts {
  readonly key: string;
}

const secretLength = 32;
const checksumLength = 6;
const keyPattern = /^stw_[0-9A-Za-z]{38}$/;

/** Makes a key: `stw_`, 32 random base62 characters, and their CRC-32 as 6 more (src/areas/projects/README.md#api-keys). */
export function makeApiKey(randomBytes: RandomBytes): NewApiKey {
  const body = `stw_${randomBase62(randomBytes, secretLength)}`;
  const key = body + checksumOf(body);
  return { key, ...partsOf(key) };
}

/** Parses a key. Its checksum detects typing errors and leaks; it proves nothing, because all can compute it. */
export function parseApiKey(text: string): ApiKeyParts | null {
  if (!keyPattern.test(text)) return null;
  const [body, checksum] = [text.slice(0, -checksumLength), text.slice(-checksumLength)];
  return checksumOf(body) === checksum ? partsOf(text) : null;
}

function partsOf(key: string): ApiKeyParts {
  return {
    digest: createHash('sha256').update(key).digest('hex'),
    prefix: key.slice(0, 8),
    last_four: key.slice(-4),
  };
}

/** Returns the CRC-32 (of gzip) in base62, most significant digit first. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
