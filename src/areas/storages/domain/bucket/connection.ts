import { isIP } from 'node:net';
import { invalid } from '../../../../validation/field-problems.js';
import { bucketPlace, regionOf } from './bucket-address.js';
import type { StorageConfiguration } from '../storage/events.js';
import {
  type EndpointField,
  type StorageProvider,
  bucketInHost,
  isProviderHost,
  publicServiceHost,
  serviceHost,
  storageProvider,
} from './bucket.js';
import { isPrintable } from '../../../../validation/text.js';

/** The keys of credentials, first the public one, then the secret (docs/api.md#22-storage-creation-request). */
export const credentialKeys = {
  oss: ['access_key', 'secret_key'],
  cos: ['secret_id', 'secret_key'],
  s3: ['access_key', 'secret_key'],
} as const satisfies Record<StorageProvider, readonly [string, string]>;

const lengthMax = 1_024;
/** Headers contain the public key unchanged, and allow nothing else (RFC 9110, section 5.5). */
const ascii = /^[\x20-\x7e]+$/;

/** Checks that exactly the provider's two keys are given, each with a value. @throws CommandRejected invalid_request */
export function checkCredentials(
  provider: StorageProvider,
  credentials: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const keys: readonly string[] = credentialKeys[provider];
  const [publicKey] = credentialKeys[provider];
  const given = new Map(Object.entries(credentials));
  if (given.size !== keys.length || keys.some((key) => !given.has(key)))
    invalid('credentials', `must have exactly the keys ${keys.join(' and ')}`);
  for (const [key, value] of given) {
    const field = `credentials.${key}`;
    checkCredential(value, field);
    if (key === publicKey && !ascii.test(value)) invalid(field, 'must be of ASCII characters only');
  }
  return given;
}

/** Checks one key of a pair. @throws CommandRejected invalid_request */
export function checkCredential(value: string, field: string): void {
  if (value.trim() === '') invalid(field, 'must not be blank', 'too_short');
  if (value !== value.trim()) invalid(field, 'must not begin or end with white space');
  if (value.length > lengthMax || !isPrintable(value))
    invalid(field, `must be at most ${lengthMax} characters, none of them a control character`);
}

type Connection = Pick<
  StorageConfiguration,
  'provider' | 'endpoint' | 'public_endpoint' | 'bucket' | 'region'
>;

/**
 * Checks that endpoint, bucket and region agree, after each is normalised.
 * @param present the connection before the change; null for a new storage
 * @throws CommandRejected invalid_request
 */
export function checkConnection(wanted: Connection, present: Connection | null): void {
  const { provider, endpoint, region } = wanted;
  if (endpoint === '') {
    if (provider === 'cos' && region === '')
      invalid('region', 'is missing: cos needs a region or a full endpoint', 'missing');
  } else {
    checkHost(wanted, 'endpoint');
    checkMove(wanted, present, 'endpoint');
    checkRegionOfHost(provider, new URL(endpoint).hostname, region);
  }
  checkPublicEndpoint(wanted, present);
}

/** Checks the second endpoint, whose URLs the service signs for the same bucket and region. */
function checkPublicEndpoint(wanted: Connection, present: Connection | null): void {
  if (wanted.public_endpoint === '') return;
  checkHost(wanted, 'public_endpoint');
  checkMove(wanted, present, 'public_endpoint');
  const { provider } = wanted;
  const host = new URL(wanted.public_endpoint).hostname;
  if (publicServiceHost(host) !== host) {
    invalid(
      'public_endpoint',
      `resolves only inside the provider’s network: give ${publicServiceHost(host)}`,
      'not_allowed',
    );
  }
  const { region: implied } = serviceHost(provider, host);
  const region = regionOf(wanted);
  if (implied !== null && region !== '' && implied !== region)
    invalid('public_endpoint', `is in ${implied}, but the bucket is in ${region}`, 'not_allowed');
}

function checkHost(wanted: Connection, field: EndpointField): void {
  const { provider, bucket } = wanted;
  const host = new URL(wanted[field]).hostname;
  if (provider !== 's3' && isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0) {
    invalid(
      field,
      `must name a host: ${titles[provider]} takes the bucket from it, and an address names none`,
    );
  }
  const owner = ownerOf(provider, host);
  if (owner !== null)
    invalid(field, `is a host of ${titles[owner]}: choose the provider ${owner}`, 'not_allowed');
  const named = bucketInHost(provider, host);
  if (named !== null && named !== bucket) {
    invalid(
      field,
      'names another bucket: leave the bucket out of it, or correct the field bucket',
      'not_allowed',
    );
  }
}

const titles: Readonly<Record<StorageProvider, string>> = {
  oss: 'Alibaba Cloud OSS',
  cos: 'Tencent Cloud COS',
  s3: 'a service with the S3 protocol',
};

/** Returns the other provider that the host belongs to; null if it is this provider's or a customer's. */
function ownerOf(provider: StorageProvider, host: string): StorageProvider | null {
  if (serviceHost(provider, host).known) return null;
  const others = storageProvider.options.filter((other) => other !== provider);
  // A known host comes first: `s3.oss-cn-beijing.aliyuncs.com` speaks S3 in the domain of OSS.
  const known = others.find((other) => serviceHost(other, host).known);
  if (known !== undefined) return known;
  if (isProviderHost(provider, host)) return null;
  return others.find((other) => bucketInHost(other, host) !== null) ?? null;
}

/** A host that is the bucket's own name serves no other bucket. */
function checkMove(wanted: Connection, present: Connection | null, field: EndpointField): void {
  const { provider, bucket, [field]: endpoint } = wanted;
  if (present === null || bucket === present.bucket || endpoint !== present[field]) return;
  if (bucketPlace(provider, present.bucket, new URL(endpoint).hostname) !== 'own_host') return;
  invalid(
    field,
    'is the own name of the present bucket: give the endpoint of the other bucket too',
    'not_allowed',
  );
}

function checkRegionOfHost(provider: StorageProvider, host: string, region: string): void {
  const { known, region: implied } = serviceHost(provider, host);
  if (region !== '') {
    if (implied !== null && implied !== region)
      invalid('region', `does not agree with the endpoint, which is in ${implied}`, 'not_allowed');
    return;
  }
  // Compatible S3 services use us-east-1 unless their operator chooses another one. COS signs no region.
  const isNeeded = provider === 'oss' || (provider === 's3' && known && /accelerate/.test(host));
  if (implied === null && isNeeded)
    invalid('region', 'is missing: the endpoint does not name it, and signatures contain it', 'missing');
}
