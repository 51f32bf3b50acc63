import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The bucket and the keys that a server has. */
export interface VerifiedBucket {
  readonly bucket: string;
  readonly region: string;
  readonly id: string;
  readonly secret: string;
}

/** Says whether a request carries the signature that the provider's SDK makes for it, and has not expired. */
export type VerifyRequest = (request: IncomingMessage) => boolean;

/**
 * Loads the SDKs of OSS and COS, on which the project does not depend, and makes verifiers of their signing functions.
 * `SDK_FOLDER` contains the `node_modules` that `scripts/make-signing-vectors.mjs` lists; undefined without it.
 */
export function loadSdkVerifiers():
  Readonly<Record<'oss' | 'cos', (bucket: VerifiedBucket) => VerifyRequest>> | undefined {
  const folder = process.env['SDK_FOLDER'];
  if (folder === undefined || folder === '') return undefined;
  const load = createRequire(join(folder, 'package.json'));
  const oss = load('ali-oss/lib/common/signUtils.js') as OssSigning;
  const cos = load('cos-nodejs-sdk-v5') as CosSdk;
  return {
    oss: (bucket) => (request) => verifyOss(oss, bucket, partsOf(request)),
    cos: (bucket) => (request) => verifyCos(cos, bucket, partsOf(request)),
  };
}

interface OssSigning {
  getCanonicalRequest(
    method: string,
    request: { headers: Record<string, string>; queries: Record<string, string | null> },
    bucket: string,
    key: string,
    additional: readonly string[],
  ): string;
  getStringToSign(region: string, time: string, canonical: string): string;
  getSignatureV4(secret: string, day: string, region: string, toSign: string): string;
}

interface CosSdk {
  getAuthorization(request: {
    SecretId: string;
    SecretKey: string;
    Method: string;
    Pathname: string;
    Query: Record<string, string>;
    Headers: Record<string, string>;
    KeyTime: string;
  }): string;
}

interface Parts {
  readonly method: string;
  readonly key: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
}

function partsOf({ method = '', url = '/', headers }: IncomingMessage): Parts {
  const { pathname, searchParams } = new URL(url, 'http://storage');
  return {
    method,
    key: decodeURIComponent(pathname).slice(1),
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}

/** OSS V4 in the URL or in the header `Authorization`. */
function verifyOss(oss: OssSigning, own: VerifiedBucket, { method, key, query, headers }: Parts): boolean {
  const { 'x-oss-signature': inUrl, ...others } = query;
  // The SDK signs a parameter without a value, such as `cors`, as its bare name.
  const queries = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [name, value === '' ? null : value]),
  );
  const header = headers['authorization'] ?? '';
  const read = (name: string): string => new RegExp(`${name}=([^,]+)`).exec(header)?.[1] ?? '';
  const time = (inUrl === undefined ? headers['x-oss-date'] : query['x-oss-date']) ?? '';
  const additional =
    inUrl === undefined ? read('AdditionalHeaders') : (query['x-oss-additional-headers'] ?? '');
  const credential = inUrl === undefined ? read('Credential') : query['x-oss-credential'];
  const day = time.slice(0, 8);
  if (credential !== `${own.id}/${day}/${own.region}/oss/aliyun_v4_request`) return false;
  const seconds = inUrl === undefined ? 900 : Number(query['x-oss-expires']);
  if (Math.abs(Date.now() - timeOf(time)) > seconds * 1_000) return false;
  const names = additional === '' ? [] : additional.split(';');
  // The SDK signs the headers that it is given, and a server has further ones.
  const canonical = oss.getCanonicalRequest(method, { headers, queries }, own.bucket, key, names);
  const toSign = oss.getStringToSign(own.region, time, canonical);
  return oss.getSignatureV4(own.secret, day, own.region, toSign) === (inUrl ?? read('Signature'));
}

function timeOf(basic: string): number {
  return Date.parse(basic.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

/** The signature of COS in the URL or in the header `Authorization`. The server's host is always part of it. */
function verifyCos(cos: CosSdk, own: VerifiedBucket, { method, key, query, headers }: Parts): boolean {
  const isInUrl = 'q-signature' in query;
  const given = isInUrl ? query : Object.fromEntries(new URLSearchParams(headers['authorization'] ?? ''));
  const [start = 0, end = 0] = (given['q-sign-time'] ?? '').split(';').map(Number);
  const nowSeconds = Date.now() / 1_000;
  if (nowSeconds < start || nowSeconds > end) return false;
  const names = (given['q-header-list'] ?? '').split(';');
  if (!names.includes('host')) return false;
  const others = Object.entries(query).filter(([name]) => !/^q-(?:sign|ak|key|header|url)/.test(name));
  if (
    others
      .map(([name]) => name.toLowerCase())
      .sort()
      .join(';') !== given['q-url-param-list']
  )
    return false;
  const expected = cos.getAuthorization({
    ...{ SecretId: own.id, SecretKey: own.secret, Method: method.toLowerCase(), Pathname: `/${key}` },
    ...{ Query: Object.fromEntries(others), KeyTime: given['q-key-time'] ?? '' },
    Headers: Object.fromEntries(names.map((name) => [name, headers[name] ?? ''])),
  });
  return new URLSearchParams(expected).get('q-signature') === given['q-signature'];
}
