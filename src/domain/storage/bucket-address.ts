import { isIP } from 'node:net';
import type { StorageConfiguration } from './configuration.js';
import type { StorageProvider } from './provider.js';
import { publicServiceHost, serviceHost } from './region.js';

/** Where a bucket is spoken to. */
export interface BucketAddress {
  readonly provider: StorageProvider;
  readonly protocol: 'https:' | 'http:';
  /** The host that requests go to and that is signed, with a port unless it is the protocol's own. */
  readonly host: string;
  /** The host for whoever is handed a URL: the same, but where `host` is known inside the provider's network only. */
  readonly publicHost: string;
  /** What keys stand behind: `/` where the bucket is in the host, else `/<bucket>/`. */
  readonly pathPrefix: string;
  readonly bucket: string;
  readonly region: string;
}

/**
 * Works out a storage's address. Where endpoint and region are left out, the providers' own defaults hold: Alibaba's SDK
 * takes cn-hangzhou, Amazon's us-east-1. Compatible services that nobody knows are given the bucket in the path, known
 * ones in the host, as far as TLS allows (Amazon S3, "Virtual hosting of buckets").
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

/** COS needs none: it signs no region, and `checkConfiguration` asks for one where there is no endpoint. */
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
  // Neither of them serves a bucket in the path any more.
  if (provider !== 's3') return false;
  const literal = isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
  // A dot would need a certificate of two labels; capitals and underscores are no host name.
  return literal || !serviceHost(provider, host).known || /[^a-z0-9-]/.test(bucket);
}
