import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';

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
 * Makes the URLs of objects with a token that a CDN checks until `endsAt`. A URL has no other parameters. Equal input
 * makes an equal URL, so that browsers keep the media.
 * @throws errors of `node:crypto` for a private key that is none
 */
export function makeCdnTokenUrl(token: CdnToken): (place: Place) => string {
  return urlMakers[token.scheme](token);
}

/** Whether a URL has an RSA signature, which takes a hundred times as long as a hash. */
export function isSignedByRsa({ scheme }: CdnToken): boolean {
  return scheme.startsWith('cloudfront');
}

type MakeUrl = (token: CdnToken) => (place: Place) => string;

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
  cloudfront: canned('RSA-SHA1', ''),
  cloudfront_sha256: canned('RSA-SHA256', '&Hash-Algorithm=SHA256'),
} as const satisfies Record<string, MakeUrl>;

/** `?<name>=<timestamp>-<rand>-<uid>-<hash>`. The random part only makes URLs differ, so it is 0. */
function inQuery(name: string): MakeUrl {
  return (token) =>
    ({ origin, path, endsAt }) => {
      const parts = `${startOf(endsAt, token)}-0-0`;
      return `${origin}${path}?${name}=${parts}-${md5(`${path}-${parts}-${secretOf(token)}`)}`;
    };
}

/** `?sign=<hash>&<name>=<timestamp>`, with a decimal timestamp. */
function signedQuery(name: string): MakeUrl {
  return (token) =>
    ({ origin, path, endsAt }) => {
      const time = String(startOf(endsAt, token));
      return `${origin}${path}?sign=${md5(secretOf(token) + path + time)}&${name}=${time}`;
    };
}

/** `/<YYYYMMDDHHMM>/<hash>/<path>`: the time is UTC+8, and its minute is rounded down. */
function datedPath(token: CdnToken): (place: Place) => string {
  return ({ origin, path, endsAt }) => {
    const local = new Date((startOf(endsAt, token) + 8 * 3_600) * 1_000).toISOString();
    const time = local.slice(0, 16).replace(/[-T:]/g, '');
    return `${origin}/${time}/${md5(secretOf(token) + time + path)}${path}`;
  };
}

/** `/<hash>/<hexadecimal timestamp>/<path>`. */
function hexPath(token: CdnToken): (place: Place) => string {
  return ({ origin, path, endsAt }) => {
    const time = startOf(endsAt, token).toString(16);
    return `${origin}/${md5(secretOf(token) + path + time)}/${time}${path}`;
  };
}

/** Parses the key once: to parse it for each URL takes longer than to sign. */
function canned(algorithm: string, more: string): MakeUrl {
  return (token) => {
    const key = createPrivateKey(keyOf(token, 'private_key'));
    const id = keyOf(token, 'key_pair_id');
    return ({ origin, path, endsAt }) => {
      const url = `${origin}${path}`;
      const condition = { DateLessThan: { 'AWS:EpochTime': endsAt } };
      const policy = JSON.stringify({ Statement: [{ Resource: url, Condition: condition }] });
      const signature = signed(policy, algorithm, key);
      return `${url}?Expires=${endsAt}&Signature=${signature}&Key-Pair-Id=${id}${more}`;
    };
  };
}

/** Signs a policy in CloudFront's form of base64. */
function signed(policy: string, algorithm: string, key: KeyObject): string {
  const signature = sign(algorithm, Buffer.from(policy), key).toString('base64');
  return signature.replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');
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
