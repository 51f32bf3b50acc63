import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { resourceTag } from './etag.js';

/** A documented success reply: its schema (`noContent` for no body), and its media type if it is not JSON. */
export interface ReplySpec {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly mediaType?: string;
}
export const noContent = z.undefined();

export type ReplySpecs = Readonly<Record<number, ReplySpec>>;

/** The same content in the codings that browsers and HTTP libraries accept, the smallest first. */
export interface Compressed {
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** Compresses a body that is served often. It takes tens of milliseconds for some 100 KB. */
export function compress(text: string): Compressed {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  };
  return { br: brotliCompressSync(text, { params }), gzip: gzipSync(text, { level: 9 }) };
}

/** A body that was serialised earlier, with its entity tag. */
export interface PreparedBody {
  /** The UTF-8 bytes, encoded once and not for every request. It may be a getter. */
  readonly bytes: Buffer;
  readonly tag: string;
  readonly contentSecurityPolicy?: string;
  /** False for pages that search engines must not index. */
  readonly isIndexed?: boolean;
  /** The language tag of a page that `Accept-Language` selects. */
  readonly language?: string;
  /** In place of the route's. */
  readonly cacheControl?: `private, max-age=${number}`;
  /** The bytes compressed, by content coding (RFC 9110, 8.4.1). */
  readonly compressed?: Compressed;
  /** Whether pages of every origin may read it. */
  readonly isForAllOrigins?: boolean;
}

interface ReplyExtras {
  /** The resource's revision; then the reply has an `ETag`. */
  readonly revision?: bigint;
  /** The path of the created resource. */
  readonly location?: string;
}

/** A reply of a handler: a documented status with a body of its schema. */
export type Reply<Replies extends ReplySpecs> = {
  [Status in keyof Replies & number]:
    | ({ readonly status: Status; readonly body: z.output<Replies[Status]['schema']> } & ReplyExtras)
    | { readonly status: Status; readonly prepared: PreparedBody };
}[keyof Replies & number];

/** The reply that is sent, and that an idempotency claim stores. */
export interface FinishedReply {
  readonly status: number;
  readonly content: string | Buffer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly compressed?: Compressed;
}

/** Serialises a reply and makes its headers. */
export function finishReply(
  reply: {
    readonly status: number;
    readonly body?: unknown;
    readonly prepared?: PreparedBody;
  } & ReplyExtras,
  { mediaType, cacheControl }: { readonly mediaType: string; readonly cacheControl: string },
): FinishedReply {
  const headers: Record<string, string> = { 'content-type': mediaType, 'cache-control': cacheControl };
  if (reply.prepared !== undefined) return finishPrepared(reply.status, reply.prepared, headers);
  if (reply.body === undefined) {
    return { status: reply.status, content: '', headers: { 'cache-control': cacheControl } };
  }
  // Node sends a text in one packet with the head.
  const content = JSON.stringify(reply.body);
  if (reply.revision !== undefined) headers['etag'] = resourceTag(reply.revision, content);
  if (reply.location !== undefined) headers['location'] = reply.location;
  return { status: reply.status, content, headers };
}

function finishPrepared(
  status: number,
  prepared: PreparedBody,
  headers: Record<string, string>,
): FinishedReply {
  const { tag, contentSecurityPolicy, isIndexed = true, language } = prepared;
  headers['etag'] = tag;
  if (contentSecurityPolicy !== undefined) headers['content-security-policy'] = contentSecurityPolicy;
  if (prepared.cacheControl !== undefined) headers['cache-control'] = prepared.cacheControl;
  if (prepared.isForAllOrigins === true) {
    headers['access-control-allow-origin'] = '*';
    headers['cross-origin-resource-policy'] = 'cross-origin';
  }
  if (!isIndexed) headers['x-robots-tag'] = 'noindex, nofollow';
  if (language !== undefined) {
    headers['content-language'] = language;
    headers['vary'] = 'Accept-Language';
  }
  if (prepared.compressed !== undefined) headers['vary'] = 'Accept-Encoding';
  return {
    status,
    ...(prepared.compressed && { compressed: prepared.compressed }),
    // A reply 304 never asks for the bytes, which some bodies make only then.
    get content() {
      return prepared.bytes;
    },
    headers,
  };
}

/** Sets headers on the Node response. Koa's way takes three calls a header, on every request. */
export function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name];
    // Replies may vary by `Origin` already.
    if (name === 'vary' && response.hasHeader('vary')) response.appendHeader('vary', value ?? '');
    else if (value !== undefined) response.setHeader(name, value);
  }
}
