import { OutgoingError, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import type { DeliveryAddress } from '../signing/media-urls.js';
import { type BucketCalls, type BucketUrls, callBucket } from './call-bucket.js';
import type { ProbeFailureCode } from '../../domain/delivery/test-failure.js';
import { failureOfReply, type ProbeFailure } from '../probing/probe-failure.js';
import { childrenInTurns, flagOf, numberOf, readXml, textOf, type XmlElement } from './xml.js';
import { decodeUri } from '../../../../validation/text.js';

/** An object as its bucket lists it. */
export interface ListedObject {
  /** The whole key as the bucket wrote it, cut where it is too long for a key. */
  readonly text: string;
  /** What the whole key may be, the likeliest first; empty where it is no UTF-8, or too long. */
  readonly readings: readonly string[];
  /** Whether the first reading needs no confirmation: servers write the other characters in different ways. */
  readonly isSure: boolean;
  readonly size: number;
  /** Without its quotation marks; null where the bucket names none. */
  readonly entity_tag: string | null;
}

export type ListAnswer =
  | {
      readonly kind: 'listed';
      /** In any order, each text once, and perhaps none. */
      readonly objects: readonly ListedObject[];
      /** The token of the next page; null on the last one. */
      readonly next: string | null;
    }
  /** The bucket does not take the token of the page. */
  | { readonly kind: 'expired' }
  /** `list_denied`: the key may not list. `list_unusable`: not the objects of the prefix. `list_unreadable`: in another form. */
  | { readonly kind: 'refused'; readonly failure: ProbeFailure | ListDenied }
  /** No usable answer, or an error inside the bucket. */
  | { readonly kind: 'away' };

interface ListDenied {
  readonly code: 'list_denied' | 'list_unusable' | 'list_unreadable';
  readonly hint: null;
}

/**
 * Lists objects page by page, by the provider's token: ListObjectsV2 of S3 and OSS, and GET Bucket of COS, whose token is a
 * key. The outgoing client limits the time. @throws the signal's reason
 */
export type ListObjects = ReturnType<typeof makeListObjects>;

/** An encoded key of 1,024 bytes. A longer text would take a turn for each of its readings. */
const keyTextMax = 3_072;
/** The other fields take a few hundred bytes. */
const objectBytesMax = 4_096;
const tokenBytesMax = 2_048;

export function makeListObjects(calls: BucketCalls) {
  return async (
    input: {
      readonly urls: BucketUrls;
      readonly provider: DeliveryAddress['provider'];
      /** The beginning of the whole keys; `''` for all. */
      readonly prefix: string;
      /** `next` of the page before; null for the first page. */
      readonly token: string | null;
      /** 1 to 1,000. A server may list more. */
      readonly limit: number;
    },
    signal?: AbortSignal,
  ): Promise<ListAnswer> => {
    const { urls, provider, prefix, token, limit } = input;
    const query = {
      ...(provider === 'cos' ? {} : { 'list-type': '2' }),
      ...(prefix === '' ? {} : { prefix }),
      ...(token === null ? {} : { [provider === 'cos' ? 'marker' : 'continuation-token']: token }),
      'max-keys': String(limit),
      // XML cannot carry every key.
      'encoding-type': 'url',
    };
    const bodyBytesMax = 65_536 + limit * objectBytesMax;
    const reply = await callBucket(calls, urls, { method: 'GET', key: '', query }, { bodyBytesMax, signal });
    if (reply instanceof OutgoingError) return { kind: 'away' };
    return reply.status === 200
      ? listedIn(reply, { provider, prefix, bytesMax: bodyBytesMax })
      : failureOfList(reply, token);
  };
}

async function failureOfList(reply: OutgoingReply, token: string | null): Promise<ListAnswer> {
  const failure = await failureOfReply('list', reply);
  if (away.has(failure.code)) return { kind: 'away' };
  // The bucket took all but the token before. Providers name the fault `InvalidArgument`, some `InvalidToken`.
  const isOfToken = failure.code === 'request_refused' || failure.code === 'temporary_keys';
  if (token !== null && isOfToken && reply.status !== 401 && reply.status !== 403) return { kind: 'expired' };
  const isDenied = reply.status === 403 && failure.code === 'request_refused';
  return { kind: 'refused', failure: isDenied ? { code: 'list_denied', hint: null } : failure };
}

const away: ReadonlySet<ProbeFailureCode> = new Set(['throttled', 'storage_unavailable']);

const unusable: ListAnswer = { kind: 'refused', failure: { code: 'list_unusable', hint: null } };
const unreadable: ListAnswer = { kind: 'refused', failure: { code: 'list_unreadable', hint: null } };

async function listedIn(
  { body }: OutgoingReply,
  input: Pick<Parameters<ListObjects>[0], 'provider' | 'prefix'> & { readonly bytesMax: number },
): Promise<ListAnswer> {
  const { provider, prefix, bytesMax } = input;
  const { is, name, root } = await readXml(body);
  if (is === 'cut' && body.length < bytesMax) return { kind: 'away' };
  const isCut = root === null ? null : flagOf(root, 'IsTruncated');
  if (root === null || name !== 'ListBucketResult' || isCut === null) return unreadable;
  const isEncoded = textOf(root, 'EncodingType') === 'url';
  const next = isCut ? tokenIn(root, provider, isEncoded) : null;
  if (isCut && next === null) return unreadable;
  const objects = await objectsIn(root, { prefix, isEncoded });
  return 'kind' in objects ? objects : { kind: 'listed', objects, next };
}

async function objectsIn(
  root: XmlElement,
  { prefix, isEncoded }: { readonly prefix: string; readonly isEncoded: boolean },
): Promise<readonly ListedObject[] | typeof unusable> {
  // A cursor names an object by its text, so an import of a page with one text twice would never end.
  const objects = new Map<string, ListedObject>();
  for await (const entry of childrenInTurns(root, 'Contents')) {
    const object = objectIn(entry, isEncoded);
    if (object === null) return unreadable;
    const readings = object.readings.filter((key) => key.startsWith(prefix));
    if (readings.length === 0 && object.readings.length > 0) return unusable;
    if (!objects.has(object.text)) objects.set(object.text, { ...object, readings });
  }
  return [...objects.values()];
}

/** Providers encode the token of OSS and the key of COS with the keys. Other tokens are sent back as they are. */
function tokenIn(root: XmlElement, provider: DeliveryAddress['provider'], isEncoded: boolean): string | null {
  const text = textOf(root, provider === 'cos' ? 'NextMarker' : 'NextContinuationToken') ?? '';
  const token = isEncoded && provider !== 's3' ? decodeUri(provider === 'cos' ? spaced(text) : text) : text;
  return token === null || token === '' || Buffer.byteLength(token) > tokenBytesMax ? null : token;
}

function objectIn(entry: XmlElement, isEncoded: boolean): ListedObject | null {
  const [key, size] = [textOf(entry, 'Key') ?? '', numberOf(entry, 'Size')];
  if (key === '' || size === null) return null;
  const text = key.slice(0, keyTextMax).toWellFormed();
  const readings = key.length > keyTextMax ? [] : readingsOf(text, isEncoded);
  const tag = (textOf(entry, 'ETag') ?? '').trim().replace(/^(?:W\/)?"?|"?$/g, '');
  return {
    ...{ text, readings, isSure: !/[+%&;]/.test(text), size },
    entity_tag: tag === '' || tag.length > 255 ? null : tag,
  };
}

/** Some servers encode keys and do not say so, or say so and encode otherwise. Some providers write a space as `+`. */
function readingsOf(text: string, isEncoded: boolean): readonly string[] {
  const [plain, likely] = [decodeUri(text), decodeUri(spaced(text))];
  if (isEncoded && likely === null) return [];
  const readings = isEncoded ? [likely, plain, text] : [text, plain, likely];
  return [...new Set(readings.filter((key) => key !== null))];
}

function spaced(text: string): string {
  return text.replaceAll('+', ' ');
}
