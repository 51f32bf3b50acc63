import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { ipBuckets } from '../../security/rates/client-ip.js';
import { publicAccess } from '../access/access.js';
import { type ErrorCode, HttpError } from '../replies/error-codes.js';
import type { PathParams } from '../access/gate.js';
import { readRawBody, saysEncoded } from '../body/raw-body.js';
import { setHeaders } from '../replies/reply.js';
import { noBody, noQuery } from '../route-spec.js';
import type { Route } from '../route.js';
import type { HttpState, Shell } from './shell.js';
import { validatePath } from '../body/validate.js';
import { requireConnection } from './pipeline.js';
import { type Admit, ownerOfClient } from '../access/admission.js';
import { errorBody } from '../replies/error-body.js';

type ParseError = { readonly reason: string; readonly status: number; readonly message: string };

const malformed: ParseError = {
  reason: 'malformed',
  status: 400,
  message: 'the request is not well-formed HTTP',
};
const parseErrors = new Map<string, ParseError>([
  [
    'HPE_HEADER_OVERFLOW',
    { reason: 'headers_too_large', status: 431, message: 'the headers are larger than 16 KiB' },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { reason: 'timeout', status: 408, message: 'the request took too long to arrive' },
  ],
  ['ECONNRESET', { reason: 'connection_lost', status: 400, message: 'the connection was lost' }],
]);

/** `reason` labels the measurement. */
export function describeParseError(error: NodeJS.ErrnoException): ParseError {
  return parseErrors.get(error.code ?? '') ?? malformed;
}

/** What is known of a request that cannot be parsed. */
export interface RequestHead {
  /** The target, or its beginning. */
  readonly url: string;
  readonly origin: string | undefined;
}

/**
 * Reads the head of a request that the parser refuses. Returns null where the bytes that it refuses do not begin with the
 * request: parts of a long head arrive one after the other, and the server keeps only the last.
 */
export function headOf({ rawPacket, bytesParsed = 0 }: UnparsedBytes): RequestHead | null {
  const [head = ''] = rawPacket?.toString('latin1').split('\r\n\r\n', 1) ?? [];
  const url = /^[A-Z]+ (\/[^ \r\n]*)/.exec(head)?.[1];
  // A later request of the packet has another head.
  if (url === undefined || bytesParsed > head.length + 4) return null;
  return { url, origin: /\r\norigin:([^\r\n]*)/i.exec(head)?.[1]?.trim() };
}

/** What Node's parser adds to its error. */
export type UnparsedBytes = { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

/** Writes a whole HTTP/1.1 error reply for a connection without a request. It ends the connection. */
export function rawErrorReply(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = errorBody(code, message);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** The request for the handler of a raw route. Nothing in it is parsed or verified. */
export interface RawRequest<Params> {
  readonly params: Params;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** The headers by lower-case name; different values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The unchanged bytes; empty for GET. */
  readonly body: Buffer;
  /** The unchanged text after the `?`. */
  readonly query: string;
  readonly command: CommandContext;
  /** The address of the sender; of IPv6 its /64. */
  readonly client: string;
}

/** A reply in the form of the caller's protocol. */
export interface RawReply {
  readonly status: 200;
  readonly contentType: string;
  readonly body: string;
}

/** A route for callers with a protocol of a platform, which prove their identity by a signature over the bytes. */
interface RawRouteSpec<Params extends PathParams> extends Pick<
  Route,
  'path' | 'name' | 'tag' | 'summary' | 'description' | 'errors'
> {
  readonly method: 'GET' | 'POST';
  readonly params: z.ZodType<Params>;
  readonly reply: string;
  /** Returns the `code` of error bodies for a protocol with special codes. `errorCodes` lists all of these codes. */
  readonly errorCodes: readonly string[];
  errorCode(params: Params): string | undefined;
  handler(request: RawRequest<Params>): Promise<RawReply>;
}

/** src/areas/payments/README.md#payment-callbacks */
const rawBytesMax = 256 * 1024;

const anyBytes = z.custom<Buffer>((value) => Buffer.isBuffer(value));

/**
 * Makes a route that receives raw bytes, at most 256 KiB of any type. Once the port listens, the
 * service serves it even while it is not ready.
 */
export function defineRawRoute<Params extends PathParams>(spec: RawRouteSpec<Params>): Route {
  const { method, path, name, tag, summary, description, errors, params } = spec;
  return {
    ...{ method, path, name, tag, summary, errors },
    ...(description === undefined ? {} : { description }),
    access: publicAccess,
    request: { params, query: noQuery, body: method === 'GET' ? noBody : anyBytes },
    replies: { 200: { description: spec.reply, schema: z.unknown() } },
    always: true,
    raw: { errorCodes: spec.errorCodes },
    serve: (shell) => makeRawExchange(spec, shell),
  };
}

function makeRawExchange<Params extends PathParams>(
  spec: RawRouteSpec<Params>,
  { clock, newId, admission }: Shell,
): (ctx: RouterContext<HttpState>) => Promise<void> {
  // A callback that is refused may never come again.
  const kind = { isReserved: true, isWrite: spec.method !== 'GET' };
  return async (ctx) => {
    const permit = admission.of(ctx.res, kind);
    try {
      await exchange(ctx, permit.admit);
    } finally {
      permit.end();
    }
  };

  async function exchange(ctx: RouterContext<HttpState>, admit: Admit): Promise<void> {
    ctx.state.route = spec.path;
    ctx.state.actor = 'anonymous';
    const params = validatePath(spec.params, ctx.params, 'not_found');
    ctx.state.errorCode = spec.errorCode(params) ?? null;
    const received = await readRawBody(ctx.req, rawBytesMax);
    requireConnection(ctx.req);
    await admit(ownerOfClient(ctx.state.client));
    const body = spec.method === 'GET' ? Buffer.alloc(0) : received;
    const { requestId, traceId, tracked } = ctx.state;
    const request = {
      params,
      method: methodOf(ctx.req),
      headers: headersOf(ctx.req),
      body,
      query: ctx.querystring,
      client: ipBuckets(ctx.state.client)[0]?.key ?? ctx.state.client,
      command: {
        commandId: newId(),
        causationId: requestId,
        correlationId: traceId,
        actor: 'anonymous',
        time: clock.now(),
        request: tracked,
      },
    };
    const reply = await spec.handler(request).catch((error: unknown) => refuseEncoded(ctx.req, error));
    if (tracked.isOver()) return;
    setHeaders(ctx.res, { 'content-type': reply.contentType, 'cache-control': 'no-store' });
    ctx.status = reply.status;
    // Node sends a text in one packet with the head.
    ctx.body = reply.body;
  }
}

/** The signature covers the bytes as they were sent, so only where it does not hold may an encoding be the reason. */
function refuseEncoded({ headers }: IncomingMessage, error: unknown): never {
  const isRefused = error instanceof HttpError && error.code === 'invalid_signature';
  if (!isRefused || !saysEncoded(headers['content-encoding'])) throw error;
  throw new HttpError('unsupported_media_type', 'the body must not have a content encoding');
}

function methodOf({ method }: IncomingMessage): 'GET' | 'HEAD' | 'POST' {
  if (method === 'GET' || method === 'HEAD' || method === 'POST') return method;
  throw new HttpError('method_not_allowed', 'the path allows GET, HEAD, POST');
}

/** A header that a proxy repeats with the same value counts once. */
function headersOf({ headersDistinct }: IncomingMessage): RawRequest<unknown>['headers'] {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, [...new Set(values)].join(', ')]),
  );
}
