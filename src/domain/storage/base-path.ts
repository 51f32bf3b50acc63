import { invalid } from '../invalid-request.js';
import { isPrintable } from '../text.js';

const bytesMax = 512;

/**
 * Normalises the folder that all keys of a storage begin with: no outer or double slashes. Refuses the segments `.` and
 * `..`: browsers rewrite them, which breaks the signature. @throws CommandRejected invalid_request
 */
export function checkBasePath(path: string): string {
  if (!isPrintable(path)) invalid('base_path', 'must not contain control characters');
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    invalid('base_path', 'must not contain the segments . and ..');
  }
  const normalised = segments.join('/');
  if (Buffer.byteLength(normalised) > bytesMax) invalid('base_path', `must be at most ${bytesMax} bytes`);
  return normalised;
}
