import type { OutgoingReply, OutgoingRequest } from '../../../../outgoing/outgoing-http.js';
import { PlatformError, type ReportList } from '../payment-maker.js';
import { type Fields, at, listAt, readJsonObject, textAt } from '../calls/parsing.js';
import type { PayPalEnvironment } from './paypal-certificates.js';
import { type CallPlatform, refusalOf, unreadableReply } from '../calls/platform-calls.js';
import { invalid } from '../../../../validation/field-problems.js';
import { readPayPalReport } from './paypal-events.js';

const path = '/v1/notifications/webhooks-events';
const pageMax = 50;
const bodyBytesMax = 4_194_304;
/** The query of a page, which PayPal chooses. */
const cursorShape = /^[\w.~%&=:+,-]{1,1024}$/;

/**
 * Makes the list of the events that PayPal has sent, or tried to send, to the app ("List event notifications"). The key is
 * the event's id, and not that of a callback, which is the id of its transmission: PayPal does not list it. A cursor is
 * the query of the page.
 */
export function makePayPalList(client: PayPalClient): ReportList {
  return {
    listReports: async ({ from, to }, after) => {
      if (after !== null && !cursorShape.test(after)) invalid('after', 'is no `next` of such a call');
      const query = after ?? `page_size=${pageMax}&start_time=${timeOf(from)}&end_time=${timeOf(to)}`;
      const page = await client({ method: 'GET', path: `${path}?${query}`, bodyBytesMax });
      if (!Array.isArray(at(page, 'events'))) return unreadableReply();
      const events = listAt(page, 'events');
      // A page without events may have a link to another one.
      return { reports: events.map(reportOf), next: events.length === 0 ? null : nextOf(page) };
    },
  };
}

function reportOf(event: unknown) {
  const id = textAt(event, 'id') ?? unreadableReply();
  return readPayPalReport(event as Fields, `event-${id}`.slice(0, 256)) ?? unreadableReply();
}

/** Returns the query of the next page. The address of the link is not used. PayPal's examples escape it as in HTML. */
function nextOf(page: Fields): string | null {
  const link = listAt(page, 'links').find((one) => at(one, 'rel') === 'next');
  if (link === undefined) return null;
  const address = (textAt(link, 'href', 4_096) ?? '').replaceAll('&amp;', '&');
  const query = /\/v1\/notifications\/webhooks-events\/?\?(.*)$/.exec(address)?.[1];
  return query !== undefined && cursorShape.test(query) ? query : unreadableReply();
}

/** PayPal's examples have no milliseconds. */
function timeOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** The credentials of an app ("Get client ID and client secret"). */
export type PayPalApi = { readonly clientId: string; readonly clientSecret: string };

/** One request of the REST API. */
interface PayPalRequest {
  readonly method: 'GET' | 'POST';
  /** With the query. */
  readonly path: string;
  readonly json?: Fields;
  /** The idempotency key of a POST, 1 to 108 characters. PayPal keeps it for 6 hours. */
  readonly requestId?: string;
  /** The bytes of the reply to read; 64 KiB when left out. */
  readonly bodyBytesMax?: number;
}

/** Sends a request, and returns the object of the reply. @throws PlatformError */
export type PayPalClient = ReturnType<typeof makePayPalClient>;

type Token = { readonly text: string; readonly endsAtMs: number };

/** The bases of PayPal's addresses. */
export const paypalUrls: Readonly<Record<PayPalEnvironment, string>> = {
  live: 'https://api-m.paypal.com',
  sandbox: 'https://api-m.sandbox.paypal.com',
};
/** A token is not used in its last minute: the clocks may differ, and a call may wait. */
const marginMs = 60_000;

/**
 * Makes the client of PayPal's REST API. Its token ("Get an access token", client credentials) serves all calls until
 * shortly before its end. A token that PayPal does not know any more (401) is renewed once.
 * @param deps.baseUrl without a slash at its end
 */
export function makePayPalClient({
  baseUrl,
  api: { clientId, clientSecret },
  call,
  now,
}: {
  readonly baseUrl: string;
  readonly api: PayPalApi;
  readonly call: CallPlatform;
  readonly now: () => Date;
}) {
  let token: Token | null = null;
  let fetching: Promise<Token> | null = null;
  return async (request: PayPalRequest) => {
    const known = await currentToken();
    const reply = await call(withToken(request, known));
    if (reply.status !== 401) return fieldsOf(reply);
    // Another call may have renewed it already.
    if (token === known) token = null;
    return fieldsOf(await call(withToken(request, await currentToken())));
  };

  function withToken(
    { method, path, json, requestId, bodyBytesMax }: PayPalRequest,
    { text }: Token,
  ): OutgoingRequest {
    return {
      method,
      url: `${baseUrl}${path}`,
      headers: {
        authorization: `Bearer ${text}`,
        accept: 'application/json',
        'content-type': 'application/json',
        ...(requestId === undefined ? {} : { 'paypal-request-id': requestId }),
        // The minimal reply does not say whether money was captured.
        ...(method === 'GET' ? {} : { prefer: 'return=representation' }),
      },
      ...(json === undefined ? {} : { body: Buffer.from(JSON.stringify(json)) }),
      ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }),
    };
  }

  /** Calls that need a token at once wait for one request. */
  async function currentToken(): Promise<Token> {
    if (token !== null && now().getTime() < token.endsAtMs) return token;
    fetching ??= fetchToken().finally(() => {
      fetching = null;
    });
    token = await fetching;
    return token;
  }

  /** Without a token nothing was asked for, so every failure is `unavailable`. */
  async function fetchToken(): Promise<Token> {
    const askedAtMs = now().getTime();
    try {
      const reply = await call({
        method: 'POST',
        url: `${baseUrl}/v1/oauth2/token`,
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: Buffer.from('grant_type=client_credentials'),
      });
      return readToken(await fieldsOf(reply), askedAtMs);
    } catch (error) {
      throw error instanceof PlatformError ? new PlatformError('unavailable', error.code) : error;
    }
  }
}

function readToken(fields: Fields, askedAtMs: number): Token {
  const text = textAt(fields, 'access_token', 8_192);
  const seconds = at(fields, 'expires_in');
  if (text === null || !/^[\x21-\x7e]+$/.test(text)) return unreadableReply();
  if (typeof seconds !== 'number' || !(seconds > 0)) return unreadableReply();
  return { text, endsAtMs: askedAtMs + seconds * 1_000 - marginMs };
}

/** An error of the API names its issue; an error of the token is a word ("API responses"). */
async function fieldsOf({ status, body }: OutgoingReply): Promise<Fields> {
  const fields = await readJsonObject(body);
  if (status >= 200 && status < 300) return fields ?? unreadableReply();
  const [detail] = listAt(fields, 'details');
  throw refusalOf(status, [textAt(detail, 'issue'), textAt(fields, 'name'), textAt(fields, 'error')]);
}
