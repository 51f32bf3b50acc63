import {
  OutgoingError,
  type OutgoingFailure,
  type OutgoingReply,
} from '../../../../outgoing/outgoing-http.js';
import type { DeliveryAddress } from '../signing/media-urls.js';
import { readStorageError } from '../probing/provider-codes.js';
import { type BucketCalls, type BucketUrls, callBucket } from './call-bucket.js';

/** `refused`: the bucket denies the request. `away`: no usable answer. `too_large`: the object is larger than asked for. */
export type ReadAnswer = { readonly body: Buffer } | 'missing' | 'refused' | 'away' | 'too_large';

/** Reads a small object from the bucket itself. The outgoing client limits the time. @throws the signal's reason */
export type ReadObject = ReturnType<typeof makeReadObject>;

export function makeReadObject(calls: BucketCalls) {
  return async (
    input: {
      readonly urls: BucketUrls;
      /** The whole key in the bucket. */
      readonly key: string;
      readonly bytesMax: number;
    },
    signal?: AbortSignal,
  ) => {
    const { urls, key, bytesMax } = input;
    const limits = { bodyBytesMax: bytesMax + 1, signal };
    const reply = await callBucket(calls, urls, { method: 'GET', key }, limits);
    if (reply instanceof OutgoingError) return 'away';
    const { status, body } = reply;
    if (status === 404) return 'missing';
    if (status >= 500 || status === 429) return 'away';
    if (status !== 200) return 'refused';
    if (body.length > bytesMax) return 'too_large';
    // A connection that breaks off may look like the end of the body.
    const length = reply.headers['content-length'];
    return length !== undefined && Number(length) !== body.length ? 'away' : { body };
  };
}

/** An object as its bucket describes it. */
export interface HeadedObject {
  readonly size: number;
  /** Without its quotation marks; null where the bucket names none. */
  readonly entity_tag: string | null;
  readonly media_type: string | null;
  /** In hexadecimal; null unless the bucket computed one over the whole object. */
  readonly sha256: string | null;
}

/**
 * What a bucket says about an object. `refused`: the bucket denies the request, so the object may exist or not. Amazon also
 * denies a missing object to a key that may not list. `away`: no usable answer, or an error inside the bucket.
 */
export type HeadAnswer =
  | {
      readonly kind: 'found';
      readonly object: HeadedObject;
      /** The `Last-Modified` of the object, in RFC 3339; null where the bucket names none. */
      readonly modified_at: string | null;
      /** The request that the bucket answered. */
      readonly by: 'head' | 'range';
    }
  | { readonly kind: 'missing' | 'refused' | 'away' };

/**
 * Asks a bucket for one object: by HEAD, and by a GET of its first byte where HEAD has no usable answer. The outgoing client
 * limits the time of each. @throws the signal's reason
 */
export type HeadObject = (
  target: {
    readonly urls: BucketUrls;
    readonly provider: DeliveryAddress['provider'];
    /** The whole key in the bucket. */
    readonly key: string;
  },
  signal?: AbortSignal,
) => Promise<HeadAnswer>;

export function makeHeadObject(calls: BucketCalls): HeadObject {
  return async ({ urls, provider, key }, signal) => {
    // Amazon S3 names a checksum only when it is asked for (API reference, HeadObject).
    const head = await ask('HEAD', provider === 's3' ? { 'x-amz-checksum-mode': 'ENABLED' } : {});
    if (head === 'unreachable') return { kind: 'away' };
    if (head?.status === 404 && !isPage(head)) return { kind: 'missing' };
    const headed = head === null ? null : headedBy(head);
    if (head !== null && headed !== null) return foundBy('head', head, headed);
    const ranged = await ask('GET', { range: 'bytes=0-0' });
    return ranged === null || ranged === 'unreachable' ? { kind: 'away' } : answerOf(ranged);

    /** Returns null for a connection that fails after it was made: proxies break off what they do not know. */
    async function ask(
      method: 'HEAD' | 'GET',
      more: Readonly<Record<string, string>>,
    ): Promise<OutgoingReply | 'unreachable' | null> {
      // A proxy may compress what it passes on.
      const unsigned = { headers: { 'accept-encoding': 'identity' }, bodyBytesMax: errorBytesMax, signal };
      const reply = await callBucket(calls, urls, { method, key, headers: more }, unsigned);
      if (!(reply instanceof OutgoingError)) return reply;
      return brokenOff.has(reply.failure) ? null : 'unreachable';
    }
  };
}

const brokenOff: ReadonlySet<OutgoingFailure> = new Set([
  'connection_failed',
  'connection_timeout',
  'not_http',
]);

/** Returns null where the reply to HEAD says nothing certain: a compressed reply has the length of another text. */
function headedBy(reply: OutgoingReply): HeadedObject | null {
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = reply.headers;
  return reply.status === 200 && encoding === 'identity' ? objectOf(reply, length) : null;
}

/** Whether a reply without a body may be the page of a proxy, which says nothing about the object. Errors of buckets are XML. */
function isPage({ headers }: OutgoingReply): boolean {
  return /^text\/(?:html|plain)\b/i.test(headers['content-type'] ?? '');
}

/** The error documents of buckets repeat the key, of up to 3,072 bytes. */
const errorBytesMax = 16_384;
/** The service stores these texts. */
const textMax = 255;

async function answerOf(reply: OutgoingReply): Promise<HeadAnswer> {
  const { status, body } = reply;
  if (status === 404) {
    const isOfBucket = body.length === 0 || (await readStorageError(body)) !== null;
    return { kind: isOfBucket ? 'missing' : 'away' };
  }
  // The other headers of a 416 are of its error document.
  const described = status === 416 ? { ...reply, headers: {} } : reply;
  const object = objectOf(described, sizeIn(reply));
  if (object !== null) return foundBy('range', described, object);
  return { kind: status < 300 || status === 416 || status === 429 || status >= 500 ? 'away' : 'refused' };
}

function foundBy(by: 'head' | 'range', { headers }: OutgoingReply, object: HeadedObject): HeadAnswer {
  return { kind: 'found', object, modified_at: instantOf(headers['last-modified']), by };
}

/** Returns null for a text without a time, and for a year that RFC 3339 cannot write. */
function instantOf(text = ''): string | null {
  const time = new Date(text);
  const instant = Number.isNaN(time.getTime()) ? '' : time.toISOString();
  return /^\d{4}-/.test(instant) ? instant : null;
}

/** Returns the size of the whole object by the reply to a request of its first byte (RFC 9110, sections 14.1 and 14.4). */
function sizeIn({ status, headers }: OutgoingReply): string | undefined {
  const range = headers['content-range'] ?? '';
  if (status === 206) return /^bytes 0-0\/([1-9]\d*)$/i.exec(range)?.[1];
  if (status === 416) return /^bytes \*\/(0)$/i.exec(range)?.[1];
  return status === 200 ? headers['content-length'] : undefined;
}

function objectOf(input: OutgoingReply, size = ''): HeadedObject | null {
  const {
    headers: { 'content-type': mediaType = '', etag = '', 'x-amz-checksum-sha256': checksum },
  } = input;
  const entityTag = etag.replace(/^(?:W\/)?"?|"?$/g, '');
  if (!/^\d{1,15}$/.test(size) || mediaType.length > textMax) return null;
  return {
    size: Number(size),
    entity_tag: entityTag === '' || entityTag.length > textMax ? null : entityTag,
    media_type: mediaType === '' ? null : mediaType,
    sha256: digestOf(checksum),
  };
}

/** The checksum of a multipart object covers the checksums of its parts, and ends with `-<parts>`. */
function digestOf(base64: string | undefined): string | null {
  if (base64 === undefined || !/^[A-Za-z0-9+/]{43}=$/.test(base64)) return null;
  return Buffer.from(base64, 'base64').toString('hex');
}
