import type { TestWarning } from '../../domain/delivery/test-failure.js';
import { limitedSignal } from '../../../../kit/time/time-limit.js';
import { OutgoingError, type OutgoingHttp, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';

/** A request that a page of an origin wants to send. */
interface Preflight {
  readonly url: string;
  readonly origin: string;
  readonly method: 'GET' | 'PUT';
  /** Lower-case names of the headers that CORS does not allow without asking. */
  readonly headers: readonly string[];
}

/** `unknown`: there was no answer that tells. */
type PreflightVerdict =
  { readonly is: 'allowed' | 'refused' } | { readonly is: 'unknown'; readonly cause: string };

/** Sends the preflight of a browser (Fetch Standard, "CORS-preflight fetch") and judges the reply as a browser does. */
async function sendPreflight(
  http: OutgoingHttp,
  preflight: Preflight,
  signal: AbortSignal,
): Promise<PreflightVerdict> {
  const { url, origin, method, headers } = preflight;
  const request = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': headers.join(','),
  };
  try {
    return verdictOf(await http({ method: 'OPTIONS', url, headers: request }, signal), preflight);
  } catch (error) {
    if (error instanceof OutgoingError) return { is: 'unknown', cause: error.failure };
    throw error;
  }
}

/** Judges the reply to a preflight (Fetch Standard, sections "CORS-preflight fetch" and "CORS check"). */
export function verdictOf(
  { status, headers }: Pick<OutgoingReply, 'status' | 'headers'>,
  { origin, method, headers: names }: Omit<Preflight, 'url'>,
): PreflightVerdict {
  if (status === 429) return { is: 'unknown', cause: 'throttled' };
  // 501: the storage does not know preflights, as a browser would notice too.
  if (status >= 500 && status !== 501) return { is: 'unknown', cause: 'storage_unavailable' };
  const listed = (name: string): readonly string[] =>
    (headers[name] ?? '').split(',').map((item) => item.trim().toLowerCase());
  const allowedHeaders = listed('access-control-allow-headers');
  const allowedOrigin = headers['access-control-allow-origin'];
  const isAllowed =
    status >= 200 &&
    status < 300 &&
    (allowedOrigin === '*' || allowedOrigin === origin) &&
    [method.toLowerCase(), '*'].some((item) => listed('access-control-allow-methods').includes(item)) &&
    names.every((name) => allowedHeaders.includes(name) || allowedHeaders.includes('*'));
  return { is: isAllowed ? 'allowed' : 'refused' };
}

/** The time for all preflights in ms. They change no result, so they may not delay it long. */
const timeMs = 3_000;

/** The URLs that pages use: one to upload to and fetch from, and one of the storage's domain if there is one. */
type PageUrls = { readonly bucket: string; readonly cdn: string | null };

/**
 * Sends the preflights of pages of the origins: for an upload, for a part of the media, and for media through
 * `cdn_domain` (src/areas/storages/README.md#browsers).
 */
export async function probePages(
  http: OutgoingHttp,
  origins: readonly string[],
  { bucket, cdn }: PageUrls,
  signal: AbortSignal,
): Promise<readonly TestWarning[]> {
  const limited = limitedSignal(signal, timeMs);
  const ask = (preflight: Preflight): Promise<PreflightVerdict> => sendPreflight(http, preflight, limited);
  const found = await Promise.all(
    origins.map(async (origin) => {
      const [put, get, through] = await Promise.all([
        ask({ url: bucket, origin, method: 'PUT', headers: ['content-type'] }),
        ask({ url: bucket, origin, method: 'GET', headers: ['range'] }),
        cdn === null ? allowed : ask({ url: cdn, origin, method: 'GET', headers: ['range'] }),
      ]);
      return { origin, ofBucket: [put, get], ofCdn: [through] };
    }),
  );
  const refusing = (place: 'ofBucket' | 'ofCdn'): string[] =>
    found.filter(({ [place]: verdicts }) => verdicts.some(({ is }) => is === 'refused')).map(originOf);
  const unknown = found.flatMap(({ origin, ofBucket, ofCdn }) =>
    [...ofBucket, ...ofCdn].flatMap((verdict) =>
      verdict.is === 'unknown' ? [{ origin, cause: verdict.cause }] : [],
    ),
  );
  return [
    ...warning('cors_missing', refusing('ofBucket'), null),
    ...warning('cdn_cors_missing', refusing('ofCdn'), null),
    ...warning('cors_unchecked', [...new Set(unknown.map(originOf))], unknown[0]?.cause ?? null),
  ];
}

const allowed: PreflightVerdict = { is: 'allowed' };

function originOf({ origin }: { readonly origin: string }): string {
  return origin;
}

function warning(code: TestWarning['code'], origins: string[], cause: string | null): readonly TestWarning[] {
  return origins.length === 0 ? [] : [{ code, origins, cause }];
}
