import {
  forAccount,
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
} from '../../../../outgoing/outgoing-http.js';
import type { DeliveryAddress, StorageUrls } from '../signing/media-urls.js';

/** An object as its bucket describes it. */
export interface HeadedObject {
  readonly size: number;
  /** Without its quotation marks. */
  readonly entity_tag: string;
  readonly media_type: string | null;
  /** In hexadecimal; null unless the bucket computed one over the whole object. */
  readonly sha256: string | null;
}

/**
 * The answer of a bucket to HEAD. `refused`: the bucket denies the request, so the object may exist or not. Amazon also
 * denies a missing object to a key that may not list. `away`: no usable answer, or an error inside the bucket.
 */
export type HeadAnswer =
  | { readonly kind: 'found'; readonly object: HeadedObject }
  | { readonly kind: 'missing' | 'refused' | 'away' };

/** Asks a bucket for one object. The outgoing client limits the time. @throws the signal's reason */
export type HeadObject = (
  target: {
    readonly urls: Pick<StorageUrls, 'bucket' | 'account'>;
    readonly provider: DeliveryAddress['provider'];
    /** The whole key in the bucket. */
    readonly key: string;
  },
  signal?: AbortSignal,
) => Promise<HeadAnswer>;

export function makeHeadObject({
  http,
  now,
}: {
  readonly http: OutgoingHttp;
  readonly now: () => Date;
}): HeadObject {
  return async ({ urls, provider, key }, signal) => {
    // Amazon S3 names a checksum only when it is asked for (API reference, HeadObject).
    const asking: Readonly<Record<string, string>> =
      provider === 's3' ? { 'x-amz-checksum-mode': 'ENABLED' } : {};
    const { url, headers } = urls.bucket.sign({ method: 'HEAD', key, headers: asking, signedAt: now() });
    try {
      return answerOf(await forAccount(http, urls.account)({ method: 'HEAD', url, headers }, signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OutgoingError) return { kind: 'away' };
      throw error;
    }
  };
}

/** The service stores these texts, so an answer with longer ones is not usable. */
const textMax = 255;

function answerOf({ status, headers }: OutgoingReply): HeadAnswer {
  if (status === 404) return { kind: 'missing' };
  if (status >= 500 || status === 429) return { kind: 'away' };
  if (status !== 200) return { kind: 'refused' };
  const object = objectOf(headers);
  return object === null ? { kind: 'away' } : { kind: 'found', object };
}

function objectOf({
  'content-length': length = '',
  'content-type': mediaType = '',
  etag = '',
  'x-amz-checksum-sha256': checksum,
}: OutgoingReply['headers']): HeadedObject | null {
  const entityTag = etag.replace(/^(?:W\/)?"?|"?$/g, '');
  const isUsable = /^\d{1,15}$/.test(length) && entityTag !== '';
  if (!isUsable || entityTag.length > textMax || mediaType.length > textMax) return null;
  return {
    size: Number(length),
    entity_tag: entityTag,
    media_type: mediaType === '' ? null : mediaType,
    sha256: digestOf(checksum),
  };
}

/** The checksum of a multipart object covers the checksums of its parts, and ends with `-<parts>`. */
function digestOf(base64: string | undefined): string | null {
  if (base64 === undefined || !/^[A-Za-z0-9+/]{43}=$/.test(base64)) return null;
  return Buffer.from(base64, 'base64').toString('hex');
}
