import type { IncomingMessage } from 'node:http';
import { invalid } from '../../validation/field-problems.js';
import { HttpError } from '../replies/error-codes.js';

/** src/http/README.md#connections */
const targetBytesMax = 4096;

/** Two readers could use different copies of a repeated header; Node silently uses the first. Equal copies but of `host` do no harm. */
const singular = new Set(['host', 'authorization', 'content-type']);

/**
 * Refuses long or malformed targets and ambiguous headers. It replaces a target in absolute form by its path (RFC 9112, 3.2.2).
 * @throws HttpError 400, 414
 */
export function checkRequestTarget(request: IncomingMessage): void {
  const { rawHeaders, httpVersion, headers } = request;
  const url = (request.url ?? '').replace(/^https?:\/\/[^/?#]+\/?/i, '/');
  if (url !== request.url) request.url = url;
  if (url.length > targetBytesMax)
    throw new HttpError('invalid_request', `the URL is longer than ${targetBytesMax} bytes`, { status: 414 });
  if (!url.startsWith('/')) throw new HttpError('invalid_request', 'the request target must be a path');
  if (url.includes('%') && !isWellEncoded(url))
    throw new HttpError('invalid_request', 'the URL holds malformed percent-encoding');
  if (headers.host === undefined && httpVersion === '1.1') invalid('header.Host', 'is missing', 'missing');
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    // RFC 9112, 6.1: its end is not certain, so nothing may follow on the connection.
    throw new HttpError('invalid_request', 'header.Transfer-Encoding is unknown in HTTP/1.0', {
      headers: { connection: 'close' },
    });
  }
  if (repeatsSingular(rawHeaders))
    throw new HttpError('invalid_request', 'a header is given twice that may be given once');
}

/** Paths are UTF-8. Queries may have another charset: the return page of Alipay also arrives in GBK. */
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
  const seen = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    // `host`, `content-type` and `authorization` have these lengths, so most other headers are skipped cheaply.
    if (name.length !== 4 && name.length !== 12 && name.length !== 13) continue;
    const lower = name.toLowerCase();
    if (!singular.has(lower)) continue;
    const value = rawHeaders[at + 1] ?? '';
    const before = seen.get(lower);
    if (before !== undefined && (lower === 'host' || before !== value)) return true;
    seen.set(lower, value);
  }
  return false;
}
