import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.js';

/** Longest request target, in bytes (DESIGN section 5). */
export const targetBytesMax = 4096;

/** Headers that mean something else to whoever reads the other copy; Node would silently keep the first. */
const singular = new Set(['host', 'authorization', 'content-type']);

/**
 * Refuses what HTTP lets through and no client of ours sends: long, absolute or malformed targets, and requests whose
 * headers two readers may understand differently.
 * @throws HttpError 400, 414
 */
export function checkRequestTarget({ url = '', rawHeaders, httpVersion, headers }: IncomingMessage): void {
  if (url.length > targetBytesMax) {
    throw new HttpError('invalid_request', `the URL is longer than ${targetBytesMax} bytes`, { status: 414 });
  }
  if (!url.startsWith('/')) throw new HttpError('invalid_request', 'the request target must be a path');
  if (url.includes('%') && !isWellEncoded(url)) {
    throw new HttpError('invalid_request', 'the URL holds malformed percent-encoding');
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new HttpError('invalid_request', 'Host: the header is missing');
  }
  if (repeatsSingular(rawHeaders)) {
    throw new HttpError('invalid_request', 'a header is given twice that may be given once');
  }
}

/** Paths are UTF-8. Queries may be in the charset of whoever sends people here: Alipay's return page comes in GBK too. */
function isWellEncoded(url: string): boolean {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  try {
    decodeURIComponent(path);
  } catch {
    return false;
  }
  return at < 0 || !/%(?![0-9A-Fa-f]{2})/.test(url.slice(at));
}

function repeatsSingular(rawHeaders: readonly string[]): boolean {
  let seen = '';
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    // `host`, `content-type` and `authorization` have these lengths; most others are passed over without more ado.
    if (name.length !== 4 && name.length !== 12 && name.length !== 13) continue;
    const lower = name.toLowerCase();
    if (!singular.has(lower)) continue;
    if (seen.includes(`${lower};`)) return true;
    seen += `${lower};`;
  }
  return false;
}
