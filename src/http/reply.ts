import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { resourceTag } from './etag.js';

/** A documented success reply: its schema (`noContent` for none), and its media type where it is not JSON. */
export interface ReplySpec {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly mediaType?: string;
}
/** The schema of a reply without a body, such as 204. */
export const noContent = z.undefined();

export type ReplySpecs = Readonly<Record<number, ReplySpec>>;

/** A body that was serialised earlier, with the entity tag made then. */
export interface PreparedBody {
  /** UTF-8, encoded once and not for every request. */
  readonly bytes: Buffer;
  readonly tag: string;
  /** For pages, which need more than the service's general one. */
  readonly contentSecurityPolicy?: string;
  /** False for pages that search engines are to leave alone. */
  readonly isIndexed?: boolean;
}

interface ReplyExtras {
  /** The resource's revision; the reply then carries its `ETag`. */
  readonly revision?: bigint;
  /** The path of what was created. */
  readonly location?: string;
}

/** What a handler may answer: a documented status with a body of its schema. */
export type Reply<Replies extends ReplySpecs> = {
  [Status in keyof Replies & number]:
    | ({ readonly status: Status; readonly body: z.output<Replies[Status]['schema']> } & ReplyExtras)
    | { readonly status: Status; readonly prepared: PreparedBody };
}[keyof Replies & number];

/** A reply as it goes out, and as an idempotency claim keeps it. */
export interface FinishedReply {
  readonly status: number;
  readonly content: string | Buffer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
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
  if (reply.prepared !== undefined) {
    const { tag, contentSecurityPolicy, isIndexed = true } = reply.prepared;
    headers['etag'] = tag;
    if (contentSecurityPolicy !== undefined) headers['content-security-policy'] = contentSecurityPolicy;
    if (!isIndexed) headers['x-robots-tag'] = 'noindex, nofollow';
    return { status: reply.status, content: reply.prepared.bytes, headers };
  }
  if (reply.body === undefined) {
    return { status: reply.status, content: '', headers: { 'cache-control': cacheControl } };
  }
  // As text it goes out in one piece with the head.
  const content = JSON.stringify(reply.body);
  if (reply.revision !== undefined) headers['etag'] = resourceTag(reply.revision, content);
  if (reply.location !== undefined) headers['location'] = reply.location;
  return { status: reply.status, content, headers };
}

/** Sets headers on the response itself: Koa's way there takes three calls a header, on every request. */
export function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
}
