import { randomUUID } from 'node:crypto';
import type { Middleware, Next, ParameterizedContext } from 'koa';
import type { Logger } from 'pino';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { makeLru } from '../../kit/lru.js';
import { type RequestTrace, traceRequest } from '../../kit/trace.js';
import type { ClientIp } from '../../security/rates/client-ip.js';
import { describeForLog, internalError, toHttpError } from '../replies/error-reply.js';
import { sendError } from '../replies/error-body.js';
import { headersOfAllowance, type StoresAvailability, trackRequest } from '../access/limits.js';
import { shed } from '../access/admission.js';
import type { HttpMetrics } from '../metrics.js';
import { setHeaders } from '../replies/reply.js';
import type { HttpState } from './shell.js';
import type { IncomingMessage } from 'node:http';
import { invalid } from '../../validation/field-problems.js';
import { HttpError } from '../replies/error-codes.js';
import { decodeUri } from '../../validation/text.js';

export interface ObserveDeps {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly clientIp: ClientIp;
  /** Computes the keyed digest of an address. Logs name clients by it. */
  readonly digestIp: (address: string) => string;
  /** Whether `PUBLIC_URL` is https. Then browsers must not use http. */
  readonly overHttps?: boolean;
  /** `PUBLIC_URL`, below which the types of problems are named. */
  readonly publicUrl: string;
  /** Whether each store answers. While one does not, the watch of the stores reports it, and not each request. */
  readonly availability?: StoresAvailability | undefined;
  /** Returns whether the listener is shutting down. Then replies end their connection. */
  readonly closing: () => boolean;
}

/** The form of a request id from a caller: short, and safe in a log line. */
const requestIdPattern = /^[\w.:-]{1,64}$/;

/** The headers of JSON replies, which need no feature of a browser. Pages widen the policy for themselves. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const;

/** A year, and the hosts below (OWASP ASVS 5.0, 3.4.1). */
const strictTransport = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const;

/** Names requests, turns errors into replies, and logs a request without its URL, headers, query and body. */
export function makeObserve(deps: ObserveDeps): Middleware<HttpState> {
  const { logger, metrics, closing } = deps;
  const headers = deps.overHttps === true ? { ...securityHeaders, ...strictTransport } : securityHeaders;
  const identify = makeIdentify(deps);
  return (ctx, next) => {
    const traced = traceRequest(ctx.method, ctx.req.headers['traceparent']);
    return traced.run(() => observe(ctx, next, traced));
  };

  async function observe(ctx: ParameterizedContext<HttpState>, next: Next, traced: RequestTrace) {
    const startedAt = performance.now();
    const { req } = ctx;
    const client = identify(req.socket.remoteAddress, req.headers['x-forwarded-for']);
    const requestId = nameRequest(req.headers['x-request-id']);
    ctx.state.requestId = requestId;
    ctx.state.traceId = traced.id;
    ctx.state.client = client.address;
    ctx.state.route = null;
    ctx.state.actor = null;
    ctx.state.errorCode = null;
    ctx.state.tracked = trackRequest();
    ctx.state.allowance = null;
    setHeaders(ctx.res, headers);
    ctx.res.setHeader('x-request-id', requestId);
    try {
      await next();
    } catch (error) {
      answerError(ctx, error, deps);
    }
    tellAllowance(ctx);
    if (closing()) ctx.set('connection', 'close');
    const durationMs = performance.now() - startedAt;
    const { route } = ctx.state;
    metrics.observe({ method: ctx.method, route, status: ctx.status, durationMs });
    traced.end({ route, status: ctx.status });
    logger.info({
      request_id: requestId,
      method: ctx.method,
      route,
      status: ctx.status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      client: client.digest,
      actor: ctx.state.actor,
    });
  }
}

/** An error 429 has the headers of the limit that refuses, if a limit does. */
function tellAllowance({ state: { allowance }, status, res }: ParameterizedContext<HttpState>): void {
  if (allowance !== null && status !== 429) setHeaders(res, headersOfAllowance(allowance));
}

type ErrorDeps = Pick<ObserveDeps, 'logger' | 'metrics' | 'availability' | 'publicUrl'>;

function answerError(
  ctx: ParameterizedContext<HttpState>,
  error: unknown,
  { logger, metrics, availability, publicUrl }: ErrorDeps,
): void {
  const known = toHttpError(error, ctx.state.tracked.mayHaveWritten());
  const answered = known ?? internalError;
  const { code, status } = answered;
  if (known === null) metrics.failed(error);
  if (status >= 500) {
    const level = known === null ? 'error' : isExpected(error, availability) ? 'debug' : 'warn';
    logger[level]({ request_id: ctx.state.requestId, code, error: describeForLog(error) }, 'request failed');
  }
  sendError(ctx, answered, publicUrl);
}

/** Returns whether the metrics show the error already: the load of the process, or a store that is away. */
function isExpected(error: unknown, stores: StoresAvailability | undefined): boolean {
  if (error === shed) return true;
  if (!(error instanceof StoreUnavailable) || stores === undefined) return false;
  return Object.values(stores).some(({ awaySinceMs }) => awaySinceMs() !== null);
}

function nameRequest(given: string | string[] | undefined): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID();
}

type Client = { readonly address: string; readonly digest: string };

/** Refuses malformed requests, which no route may see. */
export const refuseMalformed: Middleware<HttpState> = ({ req }, next) => {
  checkRequestTarget(req);
  return next();
};

/** A header of this length names several proxies. Longer ones are not cached, or clients would fill the memory. */
const cachedHeaderMax = 256;

/**
 * Identifies clients. It caches the address and its digest, because addresses repeat. It caches by the header only what
 * a trusted proxy sends: others may send a new header with each request (src/security/README.md#client-addresses).
 */
function makeIdentify({ clientIp, digestIp }: Pick<ObserveDeps, 'clientIp' | 'digestIp'>) {
  const peers = makeLru<{ readonly isProxy: boolean; readonly client: Client }>(10_000);
  const forwarders = makeLru<Client>(10_000);
  const clientOf = (socketAddress: string | undefined, forwarded: string | undefined): Client => {
    const address = clientIp(socketAddress, forwarded);
    return { address, digest: digestIp(address) };
  };
  return (socketAddress: string | undefined, forwardedFor: string | string[] | undefined): Client => {
    const socketKey = socketAddress ?? '';
    let peer = peers.get(socketKey);
    if (peer === undefined) {
      peer = { isProxy: clientIp.isProxy(socketAddress), client: clientOf(socketAddress, undefined) };
      peers.set(socketKey, peer);
    }
    if (!peer.isProxy || forwardedFor === undefined) return peer.client;
    const forwarded = String(forwardedFor);
    if (forwarded.length > cachedHeaderMax) return clientOf(socketAddress, forwarded);
    const key = `${socketKey} ${forwarded}`;
    const found = forwarders.get(key) ?? clientOf(socketAddress, forwarded);
    forwarders.set(key, found);
    return found;
  };
}

/** src/http/README.md#connections */
const targetBytesMax = 4096;

/** Two readers could use different copies of a repeated header; Node silently uses the first. Equal copies but of `host` do no harm. */
const singular = new Set(['host', 'authorization', 'content-type']);

/**
 * Refuses long or malformed targets and ambiguous headers. It replaces a target in absolute form by its path (RFC 9112, 3.2.2).
 * @throws HttpError 400, 414
 */
function checkRequestTarget(request: IncomingMessage): void {
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
  if (decodeUri(path) === null) return false;
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
