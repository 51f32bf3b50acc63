import { invalid } from '../../../../validation/invalid-request.js';
import { isPrintable } from '../../../../validation/text.js';
import { refuseSlash } from './object-key-rules.js';
import { refusesSlashes } from './object-key.js';
import type { StorageProvider } from './provider.js';

const bytesMax = 512;

/**
 * Normalises the folder that all keys of a storage begin with: no outer or double slashes. Refuses the segments `.` and
 * `..`: browsers rewrite them, which breaks the signature; and a first character that the provider refuses. @throws CommandRejected invalid_request
 */
export function checkBasePath(path: string, provider: StorageProvider): string {
  if (!isPrintable(path)) invalid('base_path', 'must not contain control characters');
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    invalid('base_path', 'must not contain the segments . and ..');
  }
  const normalised = segments.join('/');
  if (refusesSlashes[provider]) refuseSlash(normalised, 'base_path', provider);
  if (Buffer.byteLength(normalised) > bytesMax) invalid('base_path', `must be at most ${bytesMax} bytes`);
  return normalised;
}
