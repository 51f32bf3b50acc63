import {
  forAccount,
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
} from '../../../../outgoing/outgoing-http.js';
import type { DeliveryAddress, StorageUrls } from '../signing/media-urls.js';
import type { ProbeFailureCode } from '../probing/probe-failure-code.js';
import { failureOfReply, type ProbeFailure } from '../probing/probe-failure.js';
import { flagOf, numberOf, readXml, textOf, type XmlElement } from './xml.js';

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
  /** `list_denied`: the key may not list. `list_unusable`: not in the order of the keys. `list_unreadable`: in another form. */
  | { readonly kind: 'refused'; readonly failure: ProbeFailure | ListDenied }
  /** No usable answer, or an error inside the bucket. */
  | { readonly kind: 'away' };

interface ListDenied {
  readonly code: 'list_denied' | 'list_unusable' | 'list_unreadable';
  readonly hint: null;
}

/**
 * Lists objects in the order of their keys: S3 and OSS by ListObjectsV2, COS by GET Bucket, which has a marker only. The
 * outgoing client limits the time. @throws the signal's reason
 */
export type ListObjects = (
  target: {
    readonly urls: Pick<StorageUrls, 'bucket' | 'account'>;
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
      const reply = await forAccount(http, urls.account)(
        { method: 'GET', url, headers, bodyBytesMax },
        signal,
      );
      return reply.status === 200
        ? await listedIn(reply, { after, limit, bytesMax: bodyBytesMax })
        : await failureOfList(reply);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OutgoingError) return { kind: 'away' };
      throw error;
    }
  };
}

async function failureOfList(reply: OutgoingReply): Promise<ListAnswer> {
  const failure = await failureOfReply('list', reply);
  if (away.has(failure.code)) return { kind: 'away' };
  const isDenied = reply.status === 403 && failure.code === 'request_refused';
  return { kind: 'refused', failure: isDenied ? { code: 'list_denied', hint: null } : failure };
}

const away: ReadonlySet<ProbeFailureCode> = new Set(['throttled', 'storage_unavailable']);

const unusable: ListAnswer = { kind: 'refused', failure: { code: 'list_unusable', hint: null } };
const unreadable: ListAnswer = { kind: 'refused', failure: { code: 'list_unreadable', hint: null } };

async function listedIn(
  { body }: OutgoingReply,
  {
    after,
    limit,
    bytesMax,
  }: { readonly after: string | null; readonly limit: number; readonly bytesMax: number },
): Promise<ListAnswer> {
  const { is, name, root } = await readXml(body);
  if (is === 'cut' && body.length < bytesMax) return { kind: 'away' };
  const isCut = root === null ? null : flagOf(root, 'IsTruncated');
  if (root === null || name !== 'ListBucketResult' || isCut === null) return unreadable;
  const isEncoded = textOf(root, 'EncodingType') === 'url';
  const entries = root.children.filter((child) => child.name === 'Contents');
  const objects = entries.map((entry) => objectIn(entry, isEncoded)).filter((object) => object !== null);
  if (entries.length > limit || objects.length < entries.length) return unreadable;
  // A list that does not begin after the marker would be read for ever.
  const keys = [...(after === null ? [] : [after]), ...objects.map(({ key }) => key)];
  const isInOrder = keys.every((key, index) => index === 0 || isAfter(key, keys[index - 1] ?? ''));
  return isInOrder ? { kind: 'listed', objects, isCut } : unusable;
}

function objectIn(entry: XmlElement, isEncoded: boolean): ListedObject | null {
  const [text, size] = [textOf(entry, 'Key'), numberOf(entry, 'Size')];
  const key = text === null || !isEncoded ? text : decodedKey(text);
  if (key === null || key === '' || size === null) return null;
  const tag = (textOf(entry, 'ETag') ?? '').trim().replace(/^(?:W\/)?"?|"?$/g, '');
  return { key, size, entity_tag: tag === '' || tag.length > 255 ? null : tag };
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
