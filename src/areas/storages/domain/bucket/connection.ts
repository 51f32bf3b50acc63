import { isIP } from 'node:net';
import { invalid } from '../../../../validation/invalid-request.js';
import { bucketPlace, regionOf } from './bucket-address.js';
import type { StorageConfiguration } from '../storage/configuration-fields.js';
import type { EndpointField } from './endpoint.js';
import {
  type StorageProvider,
  bucketInHost,
  isProviderHost,
  publicServiceHost,
  serviceHost,
  storageProvider,
} from './region.js';

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
  if (implied !== null && region !== '' && implied !== region) {
    invalid('public_endpoint', `is in ${implied}, but the bucket is in ${region}`, 'not_allowed');
  }
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
  if (owner !== null) {
    invalid(field, `is a host of ${titles[owner]}: choose the provider ${owner}`, 'not_allowed');
  }
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
    if (implied !== null && implied !== region) {
      invalid('region', `does not agree with the endpoint, which is in ${implied}`, 'not_allowed');
    }
    return;
  }
  // Compatible S3 services use us-east-1 unless their operator chooses another one. COS signs no region.
  const isNeeded = provider === 'oss' || (provider === 's3' && known && /accelerate/.test(host));
  if (implied === null && isNeeded) {
    invalid('region', 'is missing: the endpoint does not name it, and signatures contain it', 'missing');
  }
}
