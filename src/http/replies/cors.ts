import makeKoaCors from '@koa/cors';
import type { Middleware } from 'koa';
import { areaOf } from '../route.js';
import type { RequestHead } from '../server/raw-route.js';
import { setHeaders } from './reply.js';
import type { HttpState } from '../server/shell.js';

/** Areas for the operators' own programs. Pages of other origins never read them. */
const closedAreas: ReadonlySet<string> = new Set(['internal', 'admin']);

/** The headers of replies that scripts of other origins may read. */
const exposed = [
  ...['ETag', 'Location', 'Retry-After', 'X-Request-Id'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
];

/** The headers of replies that pages of every origin may read. They do not depend on the origin, so nothing varies by it. */
const headersForAll = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposed.join(','),
} as const;

/** Chromium keeps a preflight for 2 hours at most. */
const preflightSeconds = 7_200;

/**
 * Answers requests of pages of other origins (Fetch standard, CORS protocol). The service uses no cookies, so a page can do no
 * more than its own tokens allow. Every check of a request comes after it: pages read the errors too.
 * @param origins the origins that may read replies; null for any
 */
export function makeCors(origins: readonly string[] | null): Middleware<HttpState> {
  const options = {
    exposeHeaders: exposed,
    maxAge: preflightSeconds,
    // Errors become replies inside this middleware's caller, which keeps the headers.
    keepHeadersOnError: false,
  };
  const cors = makeKoaCors(
    origins === null ? options : { ...options, origin: (ctx) => allowed(origins, ctx.get('origin')) ?? '' },
  );
  return (ctx, next) => {
    const { url = '', method } = ctx.req;
    // Another target than a path is refused. It may not be possible to parse.
    if (!url.startsWith('/') || !isOpen(url)) return next() as Promise<void>;
    if (origins !== null || method === 'OPTIONS') return cors(ctx, next) as Promise<void>;
    // The headers of every origin are constant. The library computes them again for each reply.
    setHeaders(ctx.res, headersForAll);
    return next() as Promise<void>;
  };
}

/**
 * Makes the function that returns the CORS headers of an error which the server writes before the application has the request.
 * @param origins see `makeCors`
 */
export function makeCorsOfErrors(
  origins: readonly string[] | null,
): (head: RequestHead) => Readonly<Record<string, string>> {
  return ({ url, origin }) => {
    const readBy = isOpen(url) ? allowed(origins, origin) : null;
    if (readBy === null) return {};
    return { 'Access-Control-Allow-Origin': readBy, 'Access-Control-Expose-Headers': exposed.join(',') };
  };
}

function allowed(origins: readonly string[] | null, origin: string | undefined): string | null {
  if (origins === null) return '*';
  return origin !== undefined && origins.includes(origin) ? origin : null;
}

function isOpen(path: string): boolean {
  return !closedAreas.has(areaOf(path));
}
