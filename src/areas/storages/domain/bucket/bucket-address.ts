import { isIP } from 'node:net';
import type { StorageConfiguration } from '../storage/events.js';
import {
  isHostName,
  type StorageProvider,
  isProviderHost,
  publicServiceHost,
  serviceHost,
} from './bucket.js';

/** The parts of an address that differ between the service and its clients. */
type BucketOrigin = Pick<BucketAddress, 'protocol' | 'host' | 'pathPrefix'>;

export interface BucketAddress {
  readonly provider: StorageProvider;
  readonly protocol: 'https:' | 'http:';
  /** The host of requests and signatures, with the port unless it is the protocol's default. */
  readonly host: string;
  /** The path before the key: `/` if the host names the bucket, else `/<bucket>/`. */
  readonly pathPrefix: string;
  /** The place in URLs for clients: `public_endpoint`, or the public name of a host inside the provider's network. */
  readonly client: BucketOrigin;
  readonly bucket: string;
  readonly region: string;
}

/**
 * Computes the address of a bucket. Without endpoint and region the defaults of the providers' SDKs apply: cn-hangzhou
 * for Alibaba, us-east-1 for Amazon. `bucketPlace` says where the address names the bucket.
 */
export function bucketAddress(
  configuration: Pick<StorageConfiguration, 'provider' | 'endpoint' | 'bucket' | 'region'> &
    Partial<Pick<StorageConfiguration, 'public_endpoint'>>,
): BucketAddress {
  const { provider, bucket, endpoint, public_endpoint: publicEndpoint = '' } = configuration;
  const region = regionOf(configuration);
  const origin = new URL(endpoint === '' ? defaultEndpoint(provider, region) : endpoint);
  const isSame = publicEndpoint === '';
  const forClients = isSame
    ? new URL(`${origin.protocol}//${publicServiceHost(origin.host)}`)
    : new URL(publicEndpoint);
  return {
    provider,
    ...bucketOrigin(provider, bucket, origin),
    client: bucketOrigin(provider, bucket, forClients),
    bucket,
    region,
  };
}

function bucketOrigin(provider: StorageProvider, bucket: string, origin: URL): BucketOrigin {
  const place = bucketPlace(provider, bucket, origin.hostname);
  return {
    protocol: origin.protocol === 'http:' ? 'http:' : 'https:',
    host: (place === 'before_host' ? `${bucket}.` : '') + origin.host,
    pathPrefix: place === 'path' ? `/${bucket}/` : '/',
  };
}

/** Returns the region that signatures contain; `''` for `cos` where neither field names it. */
export function regionOf(
  configuration: Pick<StorageConfiguration, 'provider' | 'endpoint' | 'region'>,
): string {
  const { provider, endpoint, region } = configuration;
  if (region !== '') return region;
  const implied = endpoint === '' ? null : serviceHost(provider, new URL(endpoint).hostname).region;
  return implied ?? defaultRegions[provider];
}

/** COS needs none: it signs no region, and `checkConnection` requires a region or an endpoint. */
const defaultRegions = { oss: 'cn-hangzhou', cos: '', s3: 'us-east-1' } as const;

function defaultEndpoint(provider: StorageProvider, region: string): string {
  switch (provider) {
    case 'oss':
      return `https://oss-${region}.aliyuncs.com`;
    case 'cos':
      return `https://cos.${region}.myqcloud.com`;
    case 's3':
      return `https://s3.${region}.${amazonDomain(region)}`;
  }
}

/** The domain of a region's partition: China, the European Sovereign Cloud, or all others. */
function amazonDomain(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
}

/**
 * Where an address names the bucket:
 * - `before_host`: `<bucket>.<host>/<key>`
 * - `own_host`: the host is the bucket's own name, such as a domain that the customer has bound to the bucket
 * - `path`: `<host>/<bucket>/<key>`
 */
type BucketPlace = 'before_host' | 'own_host' | 'path';

/**
 * Returns where the address of a bucket names it (src/areas/storages/README.md#rules-of-a-storage). OSS and COS no longer serve a bucket in the
 * path: a host outside the provider's domains is the bucket's own (OSS, "Map custom domain names"; COS, "Custom origin
 * domain"). An S3 service that `serviceHost` knows gets the bucket before the host as far as TLS allows (Amazon S3,
 * "Virtual hosting of buckets"). Any other S3 host keeps the given style: `<bucket>.<host>`, or the path.
 * @param host a lower-case host name or an address, in brackets if it is IPv6
 */
export function bucketPlace(provider: StorageProvider, bucket: string, host: string): BucketPlace {
  if (provider !== 's3') return isProviderHost(provider, host) ? 'before_host' : 'own_host';
  if (isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0) return 'path';
  // A wildcard certificate covers no dot in the bucket. Providers take no capitals and underscores there.
  if (serviceHost(provider, host).known) return /[^a-z0-9-]/.test(bucket) ? 'path' : 'before_host';
  const isBeforeHost = host.startsWith(`${bucket}.`) && isHostName(host.slice(bucket.length + 1));
  return isBeforeHost ? 'own_host' : 'path';
}
