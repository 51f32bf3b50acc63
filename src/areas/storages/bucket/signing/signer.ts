import { createHmac, hash } from 'node:crypto';
import type { BucketAddress } from '../../domain/bucket/bucket-address.js';

/** Percent-encodes all but the unreserved characters (RFC 3986, section 2.3), the form that all providers sign. */
export function encodeRfc3986(text: string): string {
  if (plain.test(text)) return text;
  return encodeURIComponent(text).replace(/[!'()*]/g, hexOf);
}

export function encodeObjectKey(key: string): string {
  return plainKey.test(key) ? key : key.split('/').map(encodeRfc3986).join('/');
}

const plain = /^[A-Za-z0-9._~-]*$/;
const plainKey = /^[A-Za-z0-9._~/-]*$/;

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

export function canonicalQuery(parameters: readonly (readonly [string, string])[]): string {
  return parameters
    .map(([name, value]): [string, string] => [encodeRfc3986(name), encodeRfc3986(value)])
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Compares two names by code unit, the providers' order. For ASCII this is byte order. */
export function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Makes what SigV4 and OSS V4 share: the scope of a time, and the signature of a canonical request. The key of a day is an HMAC-SHA-256
 * chain over the day, the region, the service and `request`. It caches the last key, because all URLs of a day share it.
 * @param by.prefix text before the secret in the first key
 */
export function makeV4(
  by: {
    readonly algorithm: string;
    readonly prefix: string;
    readonly service: string;
    readonly request: string;
  },
  { region }: SignerAddress,
  { secret }: StorageKeys,
) {
  const { algorithm, prefix, service, request } = by;
  let known: { readonly day: string; readonly key: Buffer } | undefined;
  const keyOf = (day: string): Buffer => {
    if (known?.day === day) return known.key;
    let key: Buffer = createHmac('sha256', prefix + secret)
      .update(day)
      .digest();
    for (const part of [region, service, request]) key = createHmac('sha256', key).update(part).digest();
    known = { day, key };
    return key;
  };
  const scopeOf = (time: string): string => `${time.slice(0, 8)}/${region}/${service}/${request}`;
  const signatureOf = (canonical: string, time: string): string => {
    const toSign = `${algorithm}\n${time}\n${scopeOf(time)}\n${hash('sha256', canonical)}`;
    return createHmac('sha256', keyOf(time.slice(0, 8)))
      .update(toSign)
      .digest('hex');
  };
  return { scopeOf, signatureOf };
}

export interface StorageKeys {
  /** The public half: the access key, or the secret_id of COS. */
  readonly id: string;
  readonly secret: string;
}

export type StorageMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

/** A request that this service sends itself. */
export interface HeaderRequest {
  readonly method: StorageMethod;
  /** The whole key in the bucket, decoded, without a leading slash; `''` is the bucket itself. */
  readonly key: string;
  /** Parameters that the URL contains and the signature covers, for example `response-content-type`. */
  readonly query?: Readonly<Record<string, string>>;
  /** By lower-case name; the request must carry exactly these values. The signer adds `host` if it can sign it. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedAt: Date;
}

export interface PresignRequest extends HeaderRequest {
  /** Seconds, 1 to 604,800. */
  readonly expiresInSeconds: number;
}

/** Signs requests for one bucket with one key pair, without network and clock. It caches derived keys. */
export interface StorageSigner {
  /** Signs a URL that every holder may use until it expires. @throws RangeError for a life under 1 s or over 7 days */
  presign(request: PresignRequest): string;
  /** Signs a request that this service sends itself, in its headers. */
  sign(request: HeaderRequest): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
}

/** The address of the bucket, see `bucketAddress`. */
export type SignerAddress = Pick<BucketAddress, 'protocol' | 'host' | 'pathPrefix' | 'bucket' | 'region'>;

/** Returns the URL of an object. @param path the encoded key @param query encoded; `''` for none */
export function urlOf({ protocol, host, pathPrefix }: SignerAddress, path: string, query: string): string {
  const target = `${protocol}//${host}${pathPrefix}${path}`;
  return query === '' ? target : `${target}?${query}`;
}

const lifeSecondsMax = 604_800;

/** @throws RangeError */
export function checkLife(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > lifeSecondsMax)
    throw new RangeError(`a signed URL lives 1 to ${lifeSecondsMax} seconds`);
}

/** Writes a time as `20260102T030405Z`. */
export function basicTime(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d{3}/g, '');
}
