import { isIP } from 'node:net';
import type { StorageConfiguration } from './configuration.js';
import type { StorageProvider } from './provider.js';
import { publicServiceHost, serviceHost } from './region.js';

export interface BucketAddress {
  readonly provider: StorageProvider;
  readonly protocol: 'https:' | 'http:';
  /** The host of requests and signatures, with the port unless it is the protocol's default. */
  readonly host: string;
  /** The host in URLs for clients. It differs if `host` resolves only inside the provider's network. */
  readonly publicHost: string;
  /** The path before the key: `/` if the bucket is in the host, else `/<bucket>/`. */
  readonly pathPrefix: string;
  readonly bucket: string;
  readonly region: string;
}

/**
 * Computes the address of a bucket. Without endpoint and region the defaults of the providers' SDKs apply: cn-hangzhou
 * for Alibaba, us-east-1 for Amazon. An S3 service that `serviceHost` knows gets the bucket in the host as far as TLS
 * allows (Amazon S3, "Virtual hosting of buckets"). Any other one gets it in the path.
 */
export function bucketAddress(
  configuration: Pick<StorageConfiguration, 'provider' | 'endpoint' | 'bucket' | 'region'>,
): BucketAddress {
  const { provider, bucket } = configuration;
  const region = regionOf(configuration);
  const origin = new URL(
    configuration.endpoint === '' ? defaultEndpoint(provider, region) : configuration.endpoint,
  );
  const protocol = origin.protocol === 'http:' ? 'http:' : 'https:';
  const inPath = isInPath(provider, bucket, origin.hostname);
  const before = inPath ? '' : `${bucket}.`;
  return {
    provider,
    protocol,
    host: before + origin.host,
    publicHost: before + publicServiceHost(origin.host),
    pathPrefix: inPath ? `/${bucket}/` : '/',
    bucket,
    region,
  };
}

function regionOf({
  provider,
  endpoint,
  region,
}: Pick<StorageConfiguration, 'provider' | 'endpoint' | 'region'>): string {
  if (region !== '') return region;
  const implied = endpoint === '' ? null : serviceHost(provider, new URL(endpoint).hostname).region;
  return implied ?? defaultRegions[provider];
}

/** COS needs none: it signs no region, and `checkConfiguration` requires a region or an endpoint. */
const defaultRegions = { oss: 'cn-hangzhou', cos: '', s3: 'us-east-1' } as const;

function defaultEndpoint(provider: StorageProvider, region: string): string {
  switch (provider) {
    case 'oss':
      return `https://oss-${region}.aliyuncs.com`;
    case 'cos':
      return `https://cos.${region}.myqcloud.com`;
    case 's3':
      return `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  }
}

function isInPath(provider: StorageProvider, bucket: string, host: string): boolean {
  // OSS and COS no longer serve a bucket in the path.
  if (provider !== 's3') return false;
  const literal = isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
  // A wildcard certificate covers no dot in the bucket. Capitals and underscores are not valid in a host name.
  return literal || !serviceHost(provider, host).known || /[^a-z0-9-]/.test(bucket);
}
