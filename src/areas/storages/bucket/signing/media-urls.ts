import { isDeepStrictEqual } from 'node:util';
import {
  type PresignRequest,
  type SignerAddress,
  type StorageKeys,
  type StorageSigner,
  encodeObjectKey,
} from './signer.js';
import { makeCosSigner } from './cos-signer.js';
import { makeOssSigner } from './oss-signer.js';
import { makeS3Signer } from './s3-signer.js';
import type { AccountOf } from '../../../../outgoing/shared-lookup.js';
import { hash, sign } from 'node:crypto';

/** The address of a storage's bucket, and the use of the domain in front of it (src/areas/storages/README.md#delivery). */
export interface DeliveryAddress extends SignerAddress {
  readonly provider: 's3' | 'oss' | 'cos';
  /** The place that URLs for clients name. */
  readonly client: Pick<SignerAddress, 'protocol' | 'host' | 'pathPrefix'>;
  /** The host of the storage's domain; `''` without one. */
  readonly cdnDomain: string;
  readonly mode: 'origin' | 'rewrite' | 'public' | 'token';
  /** Of the mode `token`. */
  readonly cdnToken?: CdnToken | null;
}

export interface StorageUrls {
  /** The signer for requests that this service sends to the bucket itself. */
  readonly bucket: StorageSigner;
  /** The account that requests of this service to the bucket are for. */
  readonly account?: AccountOf;
  /** The signer for URLs that clients use, without the domain in front of the bucket. */
  readonly client: StorageSigner;
  /** Signs a URL to write an object to. It never names the domain in front of the bucket. */
  uploadUrl(request: Omit<PresignRequest, 'method'>): string;
  /** Signs a URL to write one part of an object to. */
  partUrl(request: PartRequest): string;
  /** Signs a URL to fetch an object from, through the storage's domain if it has one. */
  mediaUrl(request: MediaRequest): string;
}

/** `size` is signed, so the part has exactly this size in bytes. */
type PartRequest = Omit<PresignRequest, 'method' | 'headers' | 'query'> & {
  readonly bucketUploadId: string;
  readonly partNumber: number;
  readonly size: number;
};

type MediaRequest = Omit<PresignRequest, 'method' | 'headers'>;

const makers = { s3: makeS3Signer, oss: makeOssSigner, cos: makeCosSigner };

export type MakeStorageUrls = (address: DeliveryAddress, keys: StorageKeys) => StorageUrls;

/** Makes a storage's signers. They cache keys derived from the secret: keep them only as long as the secret. */
export function makeStorageUrls(address: DeliveryAddress, keys: StorageKeys): StorageUrls {
  const { provider, client } = address;
  const make = makers[provider];
  const bucket = make(address, keys);
  const handedOut = isDeepStrictEqual(client, placeOf(address))
    ? bucket
    : make({ ...address, ...client }, keys);
  return {
    bucket,
    client: handedOut,
    uploadUrl: (request) => handedOut.presign({ ...request, method: 'PUT' }),
    partUrl: ({ bucketUploadId: uploadId, partNumber, size, ...request }) =>
      handedOut.presign({
        ...request,
        method: 'PUT',
        query: { partNumber: String(partNumber), uploadId },
        headers: { 'content-length': String(size) },
      }),
    mediaUrl: makeMediaUrl(address, handedOut, (named) => make(named, keys)),
  };
}

function placeOf({ protocol, host, pathPrefix }: SignerAddress): DeliveryAddress['client'] {
  return { protocol, host, pathPrefix };
}

function makeMediaUrl(
  address: DeliveryAddress,
  handedOut: StorageSigner,
  make: (address: SignerAddress) => StorageSigner,
): StorageUrls['mediaUrl'] {
  const { client, cdnDomain, mode, cdnToken = null } = address;
  if (cdnDomain === '') return (request) => handedOut.presign(fetching(request));
  switch (mode) {
    case 'origin': {
      // The domain is another name of the bucket, so the URL is signed for the domain.
      const named = make({ ...address, protocol: 'https:', host: cdnDomain, pathPrefix: '/' });
      return (request) => named.presign(fetching(request));
    }
    case 'rewrite': {
      const origin = `${client.protocol}//${client.host}/`;
      return (request) => {
        const signed = handedOut.presign(fetching(request));
        return `https://${cdnDomain}/${signed.slice(origin.length)}`;
      };
    }
    case 'public':
      return ({ key }) => `https://${cdnDomain}/${encodeObjectKey(key)}`;
    case 'token':
      return withToken(cdnDomain, cdnToken);
  }
}

function withToken(cdnDomain: string, token: CdnToken | null): StorageUrls['mediaUrl'] {
  if (token === null) throw new Error('the delivery mode token needs a token');
  return ({ key, signedAt, expiresInSeconds }) => {
    const endsAt = Math.floor(signedAt.getTime() / 1_000) + expiresInSeconds;
    return cdnTokenUrl(token, { origin: `https://${cdnDomain}`, path: `/${encodeObjectKey(key)}`, endsAt });
  };
}

/** Copies field by field: a spread costs more time than a hash. */
function fetching({ key, query = {}, signedAt, expiresInSeconds }: MediaRequest): PresignRequest {
  return { method: 'GET', key, query, signedAt, expiresInSeconds };
}

/** The key material of a token, and what the CDN is configured with. */
export interface CdnToken {
  readonly scheme: keyof typeof urlMakers;
  /** The life of a URL, in s, that the CDN adds to the timestamp of the URL. CloudFront reads the end from the URL. */
  readonly validSeconds: number;
  /** `key`, or `key_pair_id` and `private_key` (PEM) for CloudFront. */
  readonly keys: ReadonlyMap<string, string>;
}

interface Place {
  /** `https://<host>`. */
  readonly origin: string;
  /** Percent-encoded, with its leading slash: CDNs hash the path of the request. */
  readonly path: string;
  /** The end of the URL in whole seconds since 1970. */
  readonly endsAt: number;
}

/**
 * Makes the URL of an object with a token that a CDN checks until `endsAt`. The URL has no other parameters. Equal input
 * makes an equal URL, so that browsers keep the media.
 * @throws errors of `node:crypto` for a private key that is none
 */
export function cdnTokenUrl(token: CdnToken, place: Place): string {
  return urlMakers[token.scheme](place, token);
}

type MakeUrl = (place: Place, token: CdnToken) => string;

/**
 * Alibaba Cloud CDN: type A, https://www.alibabacloud.com/help/en/cdn/user-guide/type-a-signing, and B and C beside it; F,
 * https://www.alibabacloud.com/help/en/cdn/user-guide/authentication-method-f-description; there is no type D or E.
 * Tencent Cloud CDN: type A, https://www.tencentcloud.com/document/product/228/35222, and B to D in 35223 to 35225, which
 * EdgeOne has as methods A to D. A timestamp plus the configured life is the end of the URL. CloudFront:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html
 */
const urlMakers = {
  alibaba_a: inQuery('auth_key'),
  alibaba_b: datedPath,
  alibaba_c: hexPath,
  alibaba_f: signedQuery('time'),
  tencent_a: inQuery('sign'),
  tencent_b: datedPath,
  tencent_c: hexPath,
  tencent_d: signedQuery('t'),
  cloudfront: (place, token) => canned(place, token, 'RSA-SHA1', ''),
  cloudfront_sha256: (place, token) => canned(place, token, 'RSA-SHA256', '&Hash-Algorithm=SHA256'),
} as const satisfies Record<string, MakeUrl>;

/** `?<name>=<timestamp>-<rand>-<uid>-<hash>`. The random part only makes URLs differ, so it is 0. */
function inQuery(name: string): MakeUrl {
  return ({ origin, path, endsAt }, token) => {
    const parts = `${startOf(endsAt, token)}-0-0`;
    return `${origin}${path}?${name}=${parts}-${md5(`${path}-${parts}-${secretOf(token)}`)}`;
  };
}

/** `?sign=<hash>&<name>=<timestamp>`, with a decimal timestamp. */
function signedQuery(name: string): MakeUrl {
  return ({ origin, path, endsAt }, token) => {
    const time = String(startOf(endsAt, token));
    return `${origin}${path}?sign=${md5(secretOf(token) + path + time)}&${name}=${time}`;
  };
}

/** `/<YYYYMMDDHHMM>/<hash>/<path>`: the time is UTC+8, and its minute is rounded down. */
function datedPath({ origin, path, endsAt }: Place, token: CdnToken): string {
  const local = new Date((startOf(endsAt, token) + 8 * 3_600) * 1_000).toISOString();
  const time = local.slice(0, 16).replace(/[-T:]/g, '');
  return `${origin}/${time}/${md5(secretOf(token) + time + path)}${path}`;
}

/** `/<hash>/<hexadecimal timestamp>/<path>`. */
function hexPath({ origin, path, endsAt }: Place, token: CdnToken): string {
  const time = startOf(endsAt, token).toString(16);
  return `${origin}/${md5(secretOf(token) + path + time)}/${time}${path}`;
}

function canned({ origin, path, endsAt }: Place, token: CdnToken, algorithm: string, more: string): string {
  const url = `${origin}${path}`;
  const condition = { DateLessThan: { 'AWS:EpochTime': endsAt } };
  const policy = JSON.stringify({ Statement: [{ Resource: url, Condition: condition }] });
  const signature = sign(algorithm, Buffer.from(policy), keyOf(token, 'private_key')).toString('base64');
  const safe = signature.replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');
  return `${url}?Expires=${endsAt}&Signature=${safe}&Key-Pair-Id=${keyOf(token, 'key_pair_id')}${more}`;
}

function startOf(endsAt: number, { validSeconds }: CdnToken): number {
  return endsAt - validSeconds;
}

function secretOf(token: CdnToken): string {
  return keyOf(token, 'key');
}

function keyOf({ keys, scheme }: CdnToken, name: string): string {
  const value = keys.get(name);
  if (value === undefined) throw new Error(`a token of the scheme ${scheme} has no ${name}`);
  return value;
}

function md5(text: string): string {
  return hash('md5', text, 'hex');
}
