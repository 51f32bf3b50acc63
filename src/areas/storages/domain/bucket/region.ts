import { invalid } from '../../../../validation/field-problems.js';
import { z } from 'zod';

/** Alibaba Cloud OSS, Tencent Cloud COS, Amazon S3 and compatible services. */
export const storageProvider = z.enum(['oss', 'cos', 's3']);
export type StorageProvider = z.infer<typeof storageProvider>;

interface ServiceHosts {
  readonly provider: StorageProvider;
  /** The first group is the region. It is absent if the host serves several. */
  readonly pattern: RegExp;
  readonly region?: string;
}

const hosts: readonly ServiceHosts[] = [
  // Amazon S3, "Endpoints and quotas", with dual-stack, FIPS, the older spelling with a hyphen, China, and the
  // European Sovereign Cloud (regions `eusc-…`).
  {
    provider: 's3',
    pattern: /^s3(?:-fips)?(?:\.dualstack)?[.-]((?:[a-z]+-)+[0-9]+)\.amazonaws\.(?:com(?:\.cn)?|eu)$/,
  },
  { provider: 's3', pattern: /^s3(?:-accelerate(?:\.dualstack)?)?\.amazonaws\.com$/ },
  // Cloudflare R2 has one region for all jurisdictions.
  { provider: 's3', pattern: /^[0-9a-f]{32}\.(?:[a-z]+\.)?r2\.cloudflarestorage\.com$/, region: 'auto' },
  { provider: 's3', pattern: /^s3\.([a-z0-9-]+)\.backblazeb2\.com$/ },
  { provider: 's3', pattern: /^s3\.oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com$/ },
  // Alibaba Cloud OSS, "Regions and endpoints". Acceleration comes first, because it looks like a region.
  { provider: 'oss', pattern: /^oss-accelerate(?:-overseas)?\.aliyuncs\.com$/ },
  { provider: 'oss', pattern: /^oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com$/ },
  { provider: 'oss', pattern: /^([a-z0-9-]+)\.oss\.aliyuncs\.com$/ },
  // Tencent Cloud COS, "Regions and access endpoints".
  { provider: 'cos', pattern: /^cos\.accelerate\.(?:myqcloud\.com|tencentcos\.cn)$/ },
  { provider: 'cos', pattern: /^cos(?:-internal)?\.([a-z0-9-]+)\.(?:myqcloud\.com|tencentcos\.cn)$/ },
];

/** Returns the region that a provider's host implies. `known`: whether it is a host of the provider. */
export function serviceHost(
  provider: StorageProvider,
  host: string,
): { readonly known: boolean; readonly region: string | null } {
  for (const entry of hosts) {
    if (entry.provider !== provider) continue;
    const match = entry.pattern.exec(host);
    if (match !== null) return { known: true, region: entry.region ?? match[1] ?? null };
  }
  return { known: false, region: null };
}

/** The domains of the providers' own hosts, known or not. A customer cannot bind them to a bucket. */
const domains: Readonly<Record<StorageProvider, RegExp>> = {
  oss: /\.aliyuncs\.com$/,
  cos: /\.(?:myqcloud\.com|tencentcos\.cn)$/,
  s3: /\.amazonaws\.(?:com(?:\.cn)?|eu)$/,
};

export function isProviderHost(provider: StorageProvider, host: string): boolean {
  return domains[provider].test(host) || serviceHost(provider, host).known;
}

/** Returns the bucket before a provider's host (`<bucket>.<host>`); null if the host names none. */
export function bucketInHost(provider: StorageProvider, host: string): string | null {
  if (serviceHost(provider, host).known) return null;
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
    if (serviceHost(provider, host.slice(dot + 1)).known) return host.slice(0, dot);
  }
  return null;
}

/**
 * Returns the public name of a host that resolves only inside the provider's network: Alibaba's `-internal` endpoints
 * and Tencent's `cos-internal`. Any other host stays unchanged.
 */
export function publicServiceHost(host: string): string {
  return host
    .replace(/^((?:s3\.)?oss-[a-z0-9-]+?)-internal(\.aliyuncs\.com(?::\d+)?)$/, '$1$2')
    .replace(/^cos-internal(\.[a-z0-9-]+\.(?:myqcloud\.com|tencentcos\.cn)(?::\d+)?)$/, 'cos$1');
}

/** Checks a region's id. Removes the `oss-` that Alibaba's console shows. @throws CommandRejected invalid_request */
export function checkRegion(provider: StorageProvider, region: string): string {
  if (region === '') return '';
  const id = provider === 'oss' ? region.replace(/^oss-/, '') : region;
  // Compatible services use more characters in the ids of their regions.
  const pattern = provider === 's3' ? /^[A-Za-z0-9_-]{1,64}$/ : /^[a-z0-9-]{1,64}$/;
  return pattern.test(id)
    ? id
    : invalid('region', 'must be the id of a region, such as those of the provider’s console');
}
