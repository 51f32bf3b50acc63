import { invalid } from '../../../../validation/field-problems.js';
import { isPrintable } from '../../../../validation/text.js';
import type { StorageProvider } from './region.js';

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

/** What a storage accepts as a key below its base path. */
export interface KeyRule {
  readonly bytesMax: number;
  /** The provider, if it refuses keys that begin with a slash or a backslash. */
  readonly refusesSlashes: string | null;
}

/**
 * Returns the key unchanged. Empty segments are part of a key: every provider has them, and no browser rewrites them. A
 * browser rewrites the segments `.` and `..`, which breaks the signature. The first character is checked below a base path
 * too, because a base path can change.
 * @throws CommandRejected invalid_request, naming the field
 */
export function checkObjectKey(key: string, field: string, { bytesMax, refusesSlashes }: KeyRule): string {
  if (!isPrintable(key)) invalid(field, 'must not contain control characters');
  if (!/[^/]/.test(key)) invalid(field, 'must contain more than slashes');
  if (key.split('/').some((segment) => segment === '.' || segment === '..'))
    invalid(field, 'must not contain the segments . and ..');
  if (refusesSlashes !== null) refuseSlash(key, field, refusesSlashes);
  if (Buffer.byteLength(key) > bytesMax)
    invalid(field, `must be at most ${bytesMax} bytes below the storage's base_path`);
  return key;
}

/** @throws CommandRejected invalid_request for a path that begins with a slash or a backslash */
export function refuseSlash(path: string, field: string, provider: string): void {
  if (/^[/\\]/.test(path))
    invalid(field, `must not begin with a slash or a backslash, which ${provider} refuses`);
}
