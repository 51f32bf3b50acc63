import makeKoaCors from '@koa/cors';
import type { Middleware } from 'koa';
import { areaOf } from './check-routes.js';
import type { HttpState } from './shell.js';

/** Areas for the operators' own programs. Pages of other origins never read them. */
const closedAreas: ReadonlySet<string> = new Set(['internal', 'admin']);

/** The headers of replies that scripts of other origins may read. */
const exposed = [
  ...['ETag', 'Location', 'Problem-Fields', 'Retry-After', 'X-Request-Id'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  ...['Deprecation', 'Sunset', 'Link'],
];

/** Chromium keeps a preflight for 2 hours at most. */
const preflightSeconds = 7_200;

/**
 * Answers requests of pages of other origins (Fetch standard, CORS protocol). The service uses no cookies, so a page can do no
 * more than its own tokens allow.
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
    origins === null
      ? options
      : {
          ...options,
          origin: (ctx) => {
            const origin = ctx.get('origin');
            return origins.includes(origin) ? origin : '';
          },
        },
  );
  return (ctx, next) => (closedAreas.has(areaOf(ctx.path)) ? next() : cors(ctx, next)) as Promise<void>;
}
