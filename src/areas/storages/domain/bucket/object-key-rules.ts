import { invalid } from '../../../../validation/invalid-request.js';
import { isPrintable } from '../../../../validation/text.js';

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
  if (key.split('/').some((segment) => segment === '.' || segment === '..')) {
    invalid(field, 'must not contain the segments . and ..');
  }
  if (refusesSlashes !== null) refuseSlash(key, field, refusesSlashes);
  if (Buffer.byteLength(key) > bytesMax) {
    invalid(field, `must be at most ${bytesMax} bytes below the storage's base_path`);
  }
  return key;
}

/** @throws CommandRejected invalid_request for a path that begins with a slash or a backslash */
export function refuseSlash(path: string, field: string, provider: string): void {
  if (/^[/\\]/.test(path)) {
    invalid(field, `must not begin with a slash or a backslash, which ${provider} refuses`);
  }
}
