import { OutgoingError, type OutgoingHttp, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import type { DeliveryAddress, StorageUrls } from '../signing/media-urls.js';
import type { ProbeFailureCode } from '../testing/probe-failure-code.js';
import { failureOfReply, type ProbeFailure } from '../testing/probe-failure.js';
import { xmlElements, xmlText } from './xml-text.js';

/** An object as its bucket lists it. */
export interface ListedObject {
  /** The whole key in the bucket. */
  readonly key: string;
  readonly size: number;
  /** Without its quotation marks; null where the bucket names none. */
  readonly entity_tag: string | null;
}

export type ListAnswer =
  | {
      readonly kind: 'listed';
      /** In the order of their keys' bytes. */
      readonly objects: readonly ListedObject[];
      /** Whether objects follow. */
      readonly isCut: boolean;
    }
  /** `list_denied`: the key may not list. */
  | { readonly kind: 'refused'; readonly failure: ProbeFailure | ListDenied }
  /** No usable answer, or an error inside the bucket. */
  | { readonly kind: 'away' };

interface ListDenied {
  readonly code: 'list_denied' | 'list_unusable';
  readonly hint: null;
}

/**
 * Lists objects in the order of their keys: S3 and OSS by ListObjectsV2, COS by GET Bucket, which has a marker only. The
 * outgoing client limits the time. @throws the signal's reason
 */
export type ListObjects = (
  target: {
    readonly urls: Pick<StorageUrls, 'bucket'>;
    readonly provider: DeliveryAddress['provider'];
    /** The beginning of the whole keys; `''` for all. */
    readonly prefix: string;
    /** The whole key before the page; null for the first page. */
    readonly after: string | null;
    /** 1 to 1,000. */
    readonly limit: number;
  },
  signal?: AbortSignal,
) => Promise<ListAnswer>;

/** An encoded key takes up to 3,072 bytes, and the other fields a few hundred. */
const objectBytesMax = 4_096;

export function makeListObjects({
  http,
  now,
}: {
  readonly http: OutgoingHttp;
  readonly now: () => Date;
}): ListObjects {
  return async ({ urls, provider, prefix, after, limit }, signal) => {
    const query = {
      ...(provider === 'cos' ? {} : { 'list-type': '2' }),
      ...(prefix === '' ? {} : { prefix }),
      ...(after === null ? {} : { [provider === 'cos' ? 'marker' : 'start-after']: after }),
      'max-keys': String(limit),
      // XML cannot carry every key.
      'encoding-type': 'url',
    };
    const { url, headers } = urls.bucket.sign({ method: 'GET', key: '', query, signedAt: now() });
    const bodyBytesMax = 65_536 + limit * objectBytesMax;
    try {
      const reply = await http({ method: 'GET', url, headers, bodyBytesMax }, signal);
      return reply.status === 200
        ? listedIn(reply.body.toString('utf8'), { after, limit })
        : failureOfList(reply);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OutgoingError) return { kind: 'away' };
      throw error;
    }
  };
}

function failureOfList(reply: OutgoingReply): ListAnswer {
  const failure = failureOfReply('list', reply);
  if (away.has(failure.code)) return { kind: 'away' };
  const isDenied = reply.status === 403 && failure.code === 'request_refused';
  return { kind: 'refused', failure: isDenied ? { code: 'list_denied', hint: null } : failure };
}

const away: ReadonlySet<ProbeFailureCode> = new Set(['throttled', 'storage_unavailable']);

const unusable: ListAnswer = { kind: 'refused', failure: { code: 'list_unusable', hint: null } };

/** A list without its end is cut off. One that does not begin after the marker would be read for ever. */
function listedIn(
  xml: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): ListAnswer {
  if (!/<\/ListBucketResult>\s*$/.test(xml)) return { kind: 'away' };
  const isEncoded = xmlText(xml, 'EncodingType') === 'url';
  const objects: ListedObject[] = [];
  const entries = xmlElements(xml, 'Contents', limit);
  if (entries === null) return unusable;
  for (const entry of entries) {
    const object = objectIn(entry, isEncoded);
    const before = objects.at(-1)?.key ?? after;
    if (object === null || (before !== null && !isAfter(object.key, before))) return unusable;
    objects.push(object);
  }
  return { kind: 'listed', objects, isCut: xmlText(xml, 'IsTruncated') === 'true' };
}

function objectIn(entry: string, isEncoded: boolean): ListedObject | null {
  const [key, size] = [xmlText(entry, 'Key'), xmlText(entry, 'Size')?.trim() ?? ''];
  const decoded = key === null || !isEncoded ? key : decodedKey(key);
  if (decoded === null || decoded === '' || !/^\d{1,15}$/.test(size)) return null;
  const tag = (xmlText(entry, 'ETag') ?? '').trim().replace(/^(?:W\/)?"?|"?$/g, '');
  return { key: decoded, size: Number(size), entity_tag: tag === '' || tag.length > 255 ? null : tag };
}

/** Providers encode `+` itself, and some write a space as `+`. */
function decodedKey(key: string): string | null {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function isAfter(key: string, before: string): boolean {
  return Buffer.compare(Buffer.from(key), Buffer.from(before)) > 0;
}
