import { OutgoingError, type OutgoingHttp, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';

/** A request that a page of an origin wants to send. */
export interface Preflight {
  readonly url: string;
  readonly origin: string;
  readonly method: 'GET' | 'PUT';
  /** Lower-case names of the headers that CORS does not allow without asking. */
  readonly headers: readonly string[];
}

/** `unknown`: there was no answer that tells. */
export type PreflightVerdict =
  { readonly is: 'allowed' | 'refused' } | { readonly is: 'unknown'; readonly cause: string };

/** Sends the preflight of a browser (Fetch Standard, "CORS-preflight fetch") and judges the reply as a browser does. */
export async function sendPreflight(
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
