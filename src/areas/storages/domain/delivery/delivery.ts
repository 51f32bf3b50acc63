import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { invalid } from '../../../../validation/field-problems.js';
import { type StorageProvider, hostLengthMax, isHostName } from '../bucket/bucket.js';
import { domainToASCII } from 'node:url';

/** Normalises a CDN's host to lower-case ASCII; `''` stays `''`. @throws CommandRejected invalid_request */
export function checkCdnDomain(domain: string, field = 'cdn_domain'): string {
  if (domain === '') return '';
  const isHost = domain.length <= hostLengthMax && !/[\s/\\:@?#%]/.test(domain);
  const host = isHost ? domainToASCII(domain) : '';
  if (!isHostName(host) || !host.includes('.')) invalid(field, 'must be a host such as cdn.example.com');
  return host;
}

/**
 * How media URLs use `cdn_domain` (src/areas/storages/README.md#delivery):
 * - `origin`: the domain is another name of the bucket (CNAME), and URLs are signed for it
 * - `rewrite`: URLs are signed for the bucket's host, which the CDN sends to its origin; then the host is replaced
 * - `public`: the CDN reads the bucket itself, and URLs have no signature
 * - `token`: the CDN reads the bucket itself, and checks a token in the URL
 */
export const deliveryMode = z.enum(['origin', 'rewrite', 'public', 'token']).meta({ id: 'DeliveryMode' });
export type DeliveryMode = z.infer<typeof deliveryMode>;

/** Returns the mode of the usual set-up: OSS and COS bind a domain to the bucket, S3 is behind a CDN. */
export function defaultDelivery(provider: StorageProvider): DeliveryMode {
  return provider === 's3' ? 'rewrite' : 'origin';
}

/**
 * The tokens that CDNs check. Alibaba Cloud CDN: URL signing of type A, B, C and F; Tencent Cloud CDN and EdgeOne: of type A to
 * D; CloudFront: signed URLs with a canned policy, by RSA with SHA-1 or SHA-256.
 */
export const cdnTokenScheme = z
  .enum([
    'alibaba_a',
    'alibaba_b',
    'alibaba_c',
    'alibaba_f',
    'tencent_a',
    'tencent_b',
    'tencent_c',
    'tencent_d',
    'cloudfront',
    'cloudfront_sha256',
  ])
  .meta({ id: 'CdnTokenScheme' });
export type CdnTokenScheme = z.infer<typeof cdnTokenScheme>;

/** The settings of a token that are no secret. */
export interface CdnTokenSettings {
  readonly scheme: CdnTokenScheme;
  /** The life of a URL, in s, that the CDN is configured with. It counts from the URL's timestamp. CloudFront has none. */
  readonly validSeconds: number;
}

/** The greatest life that a CDN accepts: 20 years (Tencent Cloud CDN). */
export const cdnValidSecondsMax = 630_720_000;

/** Characters and lengths of keys: Alibaba 6 to 128, Tencent 6 to 40 letters and digits. */
const secretKey = /^[A-Za-z0-9]{6,128}$/;
const keyPairId = /^[A-Za-z0-9]{1,64}$/;
const privateKeyMax = 8_192;

/** Checks that exactly the keys of the scheme are given. @throws CommandRejected invalid_request */
export function checkCdnTokenKeys(
  scheme: CdnTokenScheme,
  keys: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const given = new Map(Object.entries(keys));
  const names = cdnTokenKeyNames(scheme);
  if (given.size !== names.length || names.some((name) => !given.has(name)))
    invalid('token.keys', `must have exactly ${names.join(' and ')}`);
  const [key, id, pem] = [given.get('key'), given.get('key_pair_id'), given.get('private_key')];
  if (key !== undefined && !secretKey.test(key))
    invalid('token.keys.key', 'must be 6 to 128 letters and digits');
  if (id !== undefined && !keyPairId.test(id))
    invalid('token.keys.key_pair_id', 'must be letters and digits');
  if (pem !== undefined && (pem.length > privateKeyMax || !isRsaPrivateKey(pem))) {
    invalid(
      'token.keys.private_key',
      'must be an RSA private key of 2,048 bits in PEM, without a passphrase',
    );
  }
  return given;
}

export function cdnTokenKeyNames(scheme: CdnTokenScheme): readonly string[] {
  return scheme.startsWith('cloudfront') ? ['key_pair_id', 'private_key'] : ['key'];
}

/**
 * Returns whether the text is an RSA private key in PEM of 2,048 bits, without a passphrase. CloudFront takes no other size:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-trusted-signers.html
 */
export function isRsaPrivateKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'rsa' && asymmetricKeyDetails?.modulusLength === 2_048;
  } catch {
    // The message would quote the text.
    return false;
  }
}
