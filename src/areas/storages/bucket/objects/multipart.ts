import { OutgoingError, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import { type BucketCalls, type BucketUrls, callBucket, type CallLimits } from './call-bucket.js';
import { readStorageError } from '../probing/provider-codes.js';
import type { HeaderRequest } from '../signing/signer.js';
import { escapeMarkup } from '../../../../validation/text.js';
import { childrenInTurns, flagOf, numberOf, readDocument, textOf, type XmlElement } from './xml.js';

/** A part as the bucket lists it. */
export interface ListedPart {
  readonly part_number: number;
  readonly size: number;
  /** With its quotation marks, as the bucket writes it. */
  readonly entity_tag: string;
}

/** `missing`: the bucket says that it has no such upload. `refused`, `away`: see `HeadAnswer`. */
export type MultipartFailure = 'missing' | 'refused' | 'away';

export interface MultipartTarget {
  readonly urls: BucketUrls;
  /** The whole key in the bucket. */
  readonly key: string;
}

type Of<More> = MultipartTarget & { readonly bucketUploadId: string } & More;

/**
 * Requests of the service to a bucket about an upload in parts. S3, OSS and COS have the same requests and replies here
 * (Amazon: CreateMultipartUpload, ListParts, CompleteMultipartUpload, AbortMultipartUpload; OSS: InitiateMultipartUpload).
 */
export type Multipart = ReturnType<typeof makeMultipart>;

export type MultipartFailureReply = { readonly failure: MultipartFailure };

/** A listed part takes up to about 400 bytes. */
const listBytesMax = 1_048_576;
/** Servers may list fewer parts on a page than the limit. The rest of the 15 s of a request is for other calls. */
const listMs = 5_000;
/** A bucket joins parts while the client waits. The rest of the 15 s of a request is for the events. */
const completeMs = 10_000;

export function makeMultipart(calls: BucketCalls) {
  const { now } = calls;
  return {
    /** Returns the id of the upload. */
    start: async ({
      urls,
      key,
      mediaType,
    }: MultipartTarget & { readonly mediaType: string }): Promise<string | MultipartFailureReply> => {
      const headers = { 'content-type': mediaType };
      const reply = await send(urls, { method: 'POST', key, query: { uploads: '' }, headers });
      if ('failure' in reply) return reply;
      const root = await readDocument(reply.body, 'InitiateMultipartUploadResult');
      const id = root === null ? '' : (textOf(root, 'UploadId')?.trim() ?? '');
      return id === '' || id.length > 1_024 ? { failure: 'away' } : id;
    },
    /** Lists the parts after the number `after` to `after + limit` (1 to 1,000), on all pages of the bucket. */
    listParts: async (
      input: Of<{ readonly after: number; readonly limit: number }>,
    ): Promise<readonly ListedPart[] | MultipartFailureReply> => {
      const { urls, key, bucketUploadId: uploadId, after, limit } = input;
      const all: ListedPart[] = [];
      const endMs = now().getTime() + listMs;
      // Each page has a higher marker.
      for (let marker = after; now().getTime() <= endMs;) {
        const query = { uploadId, 'max-parts': String(limit), 'part-number-marker': String(marker) };
        const reply = await send(urls, { method: 'GET', key, query }, { bodyBytesMax: listBytesMax });
        if ('failure' in reply) return reply;
        // moto names the list after its operation.
        const root =
          (await readDocument(reply.body, 'ListPartsResult')) ??
          (await readDocument(reply.body, 'ListPartsResponse'));
        const page = root === null ? null : await partsIn(root, marker);
        if (page === null) return { failure: 'away' };
        all.push(...page.parts.filter(({ part_number: number }) => number <= after + limit));
        if (page.next === null || page.next >= after + limit) return all;
        marker = page.next;
      }
      return { failure: 'away' };
    },
    complete: async (
      input: Of<{ readonly parts: readonly ListedPart[] }>,
    ): Promise<'done' | MultipartFailureReply> => {
      const { urls, key, bucketUploadId: uploadId, parts } = input;
      const body = Buffer.from(completion(parts));
      const headers = { 'content-type': 'application/xml' };
      const reply = await send(
        urls,
        { method: 'POST', key, query: { uploadId }, headers },
        { body, timeMs: completeMs },
      );
      if ('failure' in reply) return reply;
      // Amazon may report an error after it has begun the reply with 200.
      const root = await readDocument(reply.body, 'CompleteMultipartUploadResult');
      return root === null ? { failure: 'away' } : 'done';
    },
    abort: async (
      { urls, key, bucketUploadId: uploadId }: Of<object>,
      signal?: AbortSignal,
    ): Promise<'done' | MultipartFailureReply> => {
      const reply = await send(urls, { method: 'DELETE', key, query: { uploadId } }, { signal });
      return 'failure' in reply ? reply : 'done';
    },
  };

  async function send(
    urls: BucketUrls,
    request: Omit<HeaderRequest, 'signedAt'>,
    limits?: CallLimits,
  ): Promise<OutgoingReply | MultipartFailureReply> {
    const reply = await callBucket(calls, urls, request, limits);
    if (reply instanceof OutgoingError) return { failure: 'away' };
    const failure = await failureOf(reply);
    return failure === null ? reply : { failure };
  }
}

async function failureOf({ status, body }: OutgoingReply): Promise<MultipartFailure | null> {
  if (status >= 200 && status < 300) return null;
  const error = await readStorageError(body);
  if (error?.code === 'NoSuchUpload') return 'missing';
  // Only the bucket itself says that it has no such upload. The page of a proxy says nothing.
  if (status === 404 && error === null) return 'away';
  // Some servers have no uploads in parts.
  if (status === 501) return 'refused';
  return status >= 500 || status === 429 ? 'away' : 'refused';
}

/** Returns null where the list cannot be read, or would be read for ever. `next`: the marker of the next page. */
async function partsIn(root: XmlElement, marker: number) {
  const parts: ListedPart[] = [];
  for await (const child of childrenInTurns(root, 'Part')) {
    const [number, size] = [numberOf(child, 'PartNumber'), numberOf(child, 'Size')];
    const tag = textOf(child, 'ETag')?.trim();
    if (number === null || size === null || tag === undefined) return null;
    parts.push({ part_number: number, size, entity_tag: tag });
  }
  if (flagOf(root, 'IsTruncated') !== true) return { parts, next: null };
  const next = numberOf(root, 'NextPartNumberMarker');
  return next === null || next <= marker ? null : { parts, next };
}

function completion(parts: readonly ListedPart[]): string {
  const listed = parts.map(
    ({ part_number, entity_tag }) =>
      `<Part><PartNumber>${part_number}</PartNumber><ETag>${escapeMarkup(entity_tag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
}
