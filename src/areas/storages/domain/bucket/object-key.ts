import type { KeyRule } from './object-key-rules.js';
import type { StorageProvider } from './provider.js';

/** The providers' limits of a whole key, in bytes. */
const objectKeyBytesMax: Readonly<Record<StorageProvider, number>> = { s3: 1024, oss: 1023, cos: 850 };

/**
 * Whether the provider refuses keys that begin with a slash or a backslash. Sources: OSS, error 0016-00000005; COS, "Object
 * overview", naming conventions. Amazon S3 accepts both.
 */
export const refusesSlashes: Readonly<Record<StorageProvider, boolean>> = { s3: false, oss: true, cos: true };

/** The rule for a key of which only the provider is unknown: a key that it refuses, every storage refuses. */
export const widestKeyRule: KeyRule = {
  bytesMax: Math.max(...Object.values(objectKeyBytesMax)),
  refusesSlashes: null,
};

/** Returns the rule of a storage. @param basePath as `checkBasePath` returns it */
export function keyRuleOf(provider: StorageProvider, basePath: string): KeyRule {
  return {
    bytesMax: objectKeyBytesMax[provider] - Buffer.byteLength(wholeKey(basePath, '')),
    refusesSlashes: refusesSlashes[provider] ? provider : null,
  };
}

/** Returns the key in the bucket, which is signed. @param basePath as `checkBasePath` returns it */
export function wholeKey(basePath: string, objectKey: string): string {
  return basePath === '' ? objectKey : `${basePath}/${objectKey}`;
}
