import { OutgoingError, type OutgoingHttp, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import type { StorageUrls } from '../signing/media-urls.js';
import type { HeaderRequest } from '../signing/signer.js';
import { xmlElements, xmlText } from './xml-text.js';

/** A part as the bucket lists it. */
export interface ListedPart {
  readonly part_number: number;
  readonly size: number;
  /** With its quotation marks, as the bucket writes it. */
  readonly entity_tag: string;
}

/** `missing`: the bucket knows no such upload. `refused`, `away`: see `HeadAnswer`. */
export type MultipartFailure = 'missing' | 'refused' | 'away';

export interface MultipartTarget {
  readonly urls: Pick<StorageUrls, 'bucket'>;
  /** The whole key in the bucket. */
  readonly key: string;
}

type Of<More> = MultipartTarget & { readonly bucketUploadId: string } & More;

/**
 * Requests of the service to a bucket about an upload in parts. S3, OSS and COS have the same requests and replies here
 * (Amazon: CreateMultipartUpload, ListParts, CompleteMultipartUpload, AbortMultipartUpload; OSS: InitiateMultipartUpload).
 */
export interface Multipart {
  /** Returns the id of the upload. */
  start(target: MultipartTarget & { readonly mediaType: string }): Promise<string | MultipartFailureReply>;
  /** Lists at most `limit` (1 to 1,000) parts after the number `after`, in order. */
  listParts(
    target: Of<{ readonly after: number; readonly limit: number }>,
  ): Promise<readonly ListedPart[] | MultipartFailureReply>;
  complete(target: Of<{ readonly parts: readonly ListedPart[] }>): Promise<'done' | MultipartFailureReply>;
  abort(target: Of<object>, signal?: AbortSignal): Promise<'done' | MultipartFailureReply>;
}

export interface MultipartFailureReply {
  readonly failure: MultipartFailure;
}

/** A listed part takes up to about 400 bytes. */
const listBytesMax = 1_048_576;
/** A bucket joins parts while the client waits. The rest of the 15 s of a request is for the events. */
const completeMs = 10_000;

export function makeMultipart({
  http,
  now,
}: {
  readonly http: OutgoingHttp;
  readonly now: () => Date;
}): Multipart {
  return {
    start: async ({ urls, key, mediaType }) => {
      const headers = { 'content-type': mediaType };
      const reply = await send(urls, { method: 'POST', key, query: { uploads: '' }, headers });
      if ('failure' in reply) return reply;
      const id = textIn(reply.body.toString('utf8'), 'UploadId');
      return id === null || id.length > 1_024 ? { failure: 'away' } : id;
    },
    listParts: async ({ urls, key, bucketUploadId: uploadId, after, limit }) => {
      const query = { uploadId, 'max-parts': String(limit), 'part-number-marker': String(after) };
      const reply = await send(urls, { method: 'GET', key, query }, { bodyBytesMax: listBytesMax });
      if ('failure' in reply) return reply;
      const xml = reply.body.toString('utf8');
      // A reply without its end is cut off.
      const parts = xml.includes('</ListPartsResult>') ? partsIn(xml, limit) : null;
      return parts ?? { failure: 'away' };
    },
    complete: async ({ urls, key, bucketUploadId: uploadId, parts }) => {
      const body = Buffer.from(completion(parts));
      const headers = { 'content-type': 'application/xml' };
      const reply = await send(
        urls,
        { method: 'POST', key, query: { uploadId }, headers },
        { body, timeMs: completeMs },
      );
      if ('failure' in reply) return reply;
      // Amazon may report an error after it has begun the reply with 200.
      return reply.body.includes('<Error>') ? { failure: 'away' } : 'done';
    },
    abort: async ({ urls, key, bucketUploadId: uploadId }, signal) => {
      const reply = await send(urls, { method: 'DELETE', key, query: { uploadId } }, {}, signal);
      return 'failure' in reply ? reply : 'done';
    },
  };

  async function send(
    urls: Pick<StorageUrls, 'bucket'>,
    request: Omit<HeaderRequest, 'signedAt'>,
    more: { readonly body?: Buffer; readonly bodyBytesMax?: number; readonly timeMs?: number } = {},
    signal?: AbortSignal,
  ): Promise<OutgoingReply | MultipartFailureReply> {
    const { url, headers } = urls.bucket.sign({ ...request, signedAt: now() });
    try {
      const reply = await http({ method: request.method, url, headers, ...more }, signal);
      const failure = failureOf(reply);
      return failure === null ? reply : { failure };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OutgoingError) return { failure: 'away' };
      throw error;
    }
  }
}

function failureOf({ status }: OutgoingReply): MultipartFailure | null {
  if (status >= 200 && status < 300) return null;
  if (status === 404) return 'missing';
  // Some servers have no uploads in parts.
  if (status === 501) return 'refused';
  return status >= 500 || status === 429 ? 'away' : 'refused';
}

function partsIn(xml: string, max: number): ListedPart[] | null {
  const parts = xmlElements(xml, 'Part', max);
  if (parts === null) return null;
  return parts.flatMap((part) => {
    const [number, size, tag] = [textIn(part, 'PartNumber'), textIn(part, 'Size'), textIn(part, 'ETag')];
    if (number === null || size === null || tag === null) return [];
    return [{ part_number: Number(number), size: Number(size), entity_tag: tag }];
  });
}

function completion(parts: readonly ListedPart[]): string {
  const listed = parts.map(
    ({ part_number, entity_tag }) =>
      `<Part><PartNumber>${part_number}</PartNumber><ETag>${escaped(entity_tag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
}

function textIn(xml: string, name: string): string | null {
  return xmlText(xml, name)?.trim() ?? null;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
