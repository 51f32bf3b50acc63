import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { hash } from 'node:crypto';
import { invalid } from '../../validation/field-problems.js';

/** Makes `"<revision>-<digest of the body>"`: `If-Match` needs the revision; the body may join other streams. */
function resourceTag(revision: bigint, body: string): string {
  return `"${revision}-${digest(body)}"`;
}

/** Makes `"<digest of the body>"`, for replies that are no single resource. */
export function contentTag(body: string): string {
  return `"${digest(body)}"`;
}

/** Makes `W/"<digest>"`, for replies of which two are equivalent while what the tag covers is the same (RFC 9110, 8.8.3). */
export function weakTag(covered: string): string {
  return `W/${contentTag(covered)}`;
}

function digest(body: string): string {
  return hash('sha256', body, 'base64url').slice(0, 22);
}

/** Compares `If-None-Match` weakly (RFC 9110, 13.1.2). A malformed field matches nothing. */
export function matchesNone(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false;
  if (field === tag || field.trim() === '*') return true;
  const opaque = asServed(tag);
  return field.split(',').some((one) => asServed(one.trim()) === opaque);
}

/** What proxies that compress a reply put behind its tag: Apache `-gzip`, Jetty `--gzip`, others `;gzip`. */
const compressed = '(?:--?|;)(?:gzip|br|deflate|zstd)';
const compressedTag = new RegExp(`${compressed}"$`);

/** Returns a tag as the service served it: proxies that compress also make it weak. */
function asServed(tag: string): string {
  return tag.replace(/^W\//, '').replace(compressedTag, '"');
}

const anyTag = '(?:W\\/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';

/** The values of `If-Match` that the service takes: entity tags (RFC 9110, 8.8.3), or `*`. */
export const ifMatchPattern = new RegExp(`^(?:\\*|${anyTag}(?:[ \\t]*,[ \\t]*${anyTag})*)$`);

const revisionInTag = new RegExp(`"(\\d{1,19})-[\\w-]{22}(?:${compressed})?"`, 'g');

/**
 * Returns the revisions that `If-Match` demands (RFC 9110, 13.1.1), one of which must be the current one; undefined for any.
 * Weak tags count too: a tag begins with its revision. @throws InvalidInput
 */
export function revisionsWanted(field: string | undefined): readonly bigint[] | undefined {
  if (field === undefined || field === '*') return undefined;
  if (!ifMatchPattern.test(field)) return invalid('header.If-Match', 'must be entity tags or *');
  return Array.from(field.matchAll(revisionInTag), ([, revision = '']) => BigInt(revision));
}

/** A documented success reply: its schema (`noContent` for no body), and its media type if it is not JSON. */
export interface ReplySpec {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly mediaType?: string;
}
export const noContent = z.undefined();

export type ReplySpecs = Readonly<Record<number, ReplySpec>>;

/** The compressed forms of a body, by content coding. */
export type EncodedBody = { readonly br: Buffer; readonly gzip: Buffer };

/** A body that was serialised earlier, with its entity tag. */
export interface PreparedBody {
  /** UTF-8 bytes that replies share, a text of this reply alone, or what makes the bytes for a reply that sends them. */
  readonly bytes: Buffer | string | (() => Buffer | Promise<Buffer>);
  /** Returns the compressed forms, for clients that accept one; without it every client gets the plain bytes. */
  readonly encoded?: () => EncodedBody;
  readonly tag: string;
  readonly contentSecurityPolicy?: string;
  /** False for pages that search engines must not index. */
  readonly isIndexed?: boolean;
  /** The language tag of a page that `Accept-Language` selects. */
  readonly language?: string;
  /** In place of the route's. */
  readonly cacheControl?: `private, max-age=${number}` | `public, max-age=${number}, immutable`;
  /** In place of the route's, with its charset. */
  readonly mediaType?: string;
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
  /** A function where a reply 304 would not need the bytes. A getter would cost each reply more than a microsecond. */
  readonly content: string | Buffer | (() => Buffer | Promise<Buffer>);
  /** See `PreparedBody`. */
  readonly encoded?: () => EncodedBody;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

interface AnyReply extends ReplyExtras {
  readonly status: number;
  readonly body?: unknown;
  readonly prepared?: PreparedBody;
}

interface ReplyFormat {
  /** With its charset. */
  readonly mediaType: string;
  readonly cacheControl: string;
}

/**
 * Makes what serialises the replies of a route and makes their headers.
 * @param cacheControl of the replies that bring none
 */
export function makeFinishReply(
  replies: ReplySpecs,
  cacheControl: string,
): (reply: AnyReply) => FinishedReply {
  const formats = new Map<number, ReplyFormat>();
  for (const [status, { mediaType = 'application/json' }] of Object.entries(replies))
    formats.set(Number(status), { mediaType: withCharset(mediaType), cacheControl });
  return (reply) => {
    const format = formats.get(reply.status);
    if (format === undefined)
      throw new Error(`the handler of a route answered the undocumented status ${reply.status}`);
    return finishReply(reply, format);
  };
}

/** Bytes that are no text have no charset, and playlists are always UTF-8 (RFC 8216, section 4). */
const withoutCharset: ReadonlySet<string> = new Set([
  'application/octet-stream',
  'application/vnd.apple.mpegurl',
]);

function withCharset(mediaType: string): string {
  return withoutCharset.has(mediaType) ? mediaType : `${mediaType}; charset=utf-8`;
}

function finishReply(
  { status, body, prepared, revision, location }: AnyReply,
  format: ReplyFormat,
): FinishedReply {
  if (prepared !== undefined) return finishPrepared(status, prepared, format);
  const { mediaType, cacheControl } = format;
  if (body === undefined) return { status, content: '', headers: { 'cache-control': cacheControl } };
  const headers: Record<string, string> = { 'content-type': mediaType, 'cache-control': cacheControl };
  // Node sends a text in one packet with the head.
  const content = JSON.stringify(body);
  if (revision !== undefined) headers['etag'] = resourceTag(revision, content);
  if (location !== undefined) headers['location'] = location;
  return { status, content, headers };
}

function finishPrepared(
  status: number,
  prepared: PreparedBody,
  { mediaType, cacheControl }: ReplyFormat,
): FinishedReply {
  const { bytes, encoded, tag, contentSecurityPolicy, isIndexed = true, language } = prepared;
  const headers: Record<string, string> = {
    'content-type': prepared.mediaType ?? mediaType,
    'cache-control': prepared.cacheControl ?? cacheControl,
    etag: tag,
  };
  if (contentSecurityPolicy !== undefined) headers['content-security-policy'] = contentSecurityPolicy;
  if (prepared.isForAllOrigins === true) {
    headers['access-control-allow-origin'] = '*';
    headers['cross-origin-resource-policy'] = 'cross-origin';
  }
  if (!isIndexed) headers['x-robots-tag'] = 'noindex, nofollow';
  if (language !== undefined) headers['content-language'] = language;
  const plain = { status, content: bytes, headers };
  return encoded === undefined ? plain : { ...plain, encoded };
}

/** Returns the content of a reply that is sent or stored. */
export function contentOf({ content }: Pick<FinishedReply, 'content'>): string | Buffer | Promise<Buffer> {
  return typeof content === 'function' ? content() : content;
}

/** Sets headers on the Node response. Koa's way takes three calls a header, on every request. */
export function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
}
