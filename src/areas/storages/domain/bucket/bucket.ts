import { invalid } from '../../../../validation/field-problems.js';
import { z } from 'zod';
import { isIP, BlockList } from 'node:net';
import { isPrintable } from '../../../../validation/text.js';

/**
 * Checks a bucket's name by the provider's rules. @throws CommandRejected invalid_request
 * - oss: 3 to 63 of a-z 0-9 -, no hyphen at the ends (Alibaba Cloud OSS, "Bucket naming conventions")
 * - cos: a name of 1 to 50 of the same, then - and the account's APPID (Tencent Cloud COS, "Bucket overview")
 * - s3: 3 to 63 of letters, digits, dots, hyphens and underscores, a letter or digit at the ends, no two dots in a
 *   row, not an IPv4 address (Amazon S3, "Bucket naming rules"; capitals and underscores exist on older buckets and
 *   on compatible services)
 */
export function checkBucket(provider: StorageProvider, bucket: string): string {
  switch (provider) {
    case 'oss':
      if (/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucket)) return bucket;
      return invalid(
        'bucket',
        'must be 3 to 63 lower-case letters, digits and hyphens, no hyphen at the ends',
      );
    case 'cos':
      if (/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?-[0-9]{1,12}$/.test(bucket)) return bucket;
      return invalid(
        'bucket',
        'must be the name of 1 to 50 lower-case letters, digits and hyphens, then - and the APPID',
      );
    case 's3':
      if (/^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket) && isIP(bucket) === 0)
        return bucket;
      return invalid(
        'bucket',
        'must be 3 to 63 letters, digits, dots, hyphens and underscores, a letter or digit at the ends',
      );
  }
}

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

/**
 * Makes the predicate of addresses in the ranges of `STORAGE_ALLOWED_CIDRS`.
 * @param cidrs for example `10.0.0.0/8` or `fd00::/8`
 */
export function makeAllowedAddresses(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', bits = ''] = cidr.split('/');
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Makes the predicate of hosts that a storage may name over http (`AllowsHttp`). */
export function makeAllowsHttp(cidrs: readonly string[]): (host: string) => boolean {
  const isAllowed = makeAllowedAddresses(cidrs);
  return (host) => (isIP(host) === 0 ? cidrs.length > 0 : isAllowed(host));
}

const bytesMax = 512;

/**
 * Normalises the folder that all keys of a storage begin with: no outer or double slashes. Refuses the segments `.` and
 * `..`: browsers rewrite them, which breaks the signature; and a first character that the provider refuses. @throws CommandRejected invalid_request
 */
export function checkBasePath(path: string, provider: StorageProvider): string {
  if (!isPrintable(path)) invalid('base_path', 'must not contain control characters');
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..'))
    invalid('base_path', 'must not contain the segments . and ..');
  const normalised = segments.join('/');
  if (refusesSlashes[provider]) refuseSlash(normalised, 'base_path', provider);
  if (Buffer.byteLength(normalised) > bytesMax) invalid('base_path', `must be at most ${bytesMax} bytes`);
  return normalised;
}

export const hostLengthMax = 253;

/**
 * Returns whether it is a lower-case host name (RFC 1123, section 2.1): labels of letters, digits and inner hyphens.
 * Underscores count as letters, because names in networks of Compose have them.
 */
export function isHostName(text: string): boolean {
  return (
    text.length <= hostLengthMax &&
    /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(text)
  );
}

/**
 * Returns whether an address or a name may be used without TLS. `STORAGE_ALLOWED_CIDRS` must contain the address. A name
 * may be used if there are any such ranges: the guard judges the addresses that it resolves to at each connection.
 */
export type AllowsHttp = (host: string) => boolean;

/** The fields of a storage that contain an endpoint: the service uses one, and browsers use the other. */
export type EndpointField = 'endpoint' | 'public_endpoint';

/**
 * Normalises an endpoint to an origin (`https://host[:port]`); `''` stays `''`. It removes the bucket before a host of
 * the provider. A host without a scheme means https.
 * @throws CommandRejected invalid_request
 */
export function checkEndpoint(
  input: { provider: StorageProvider; bucket: string; endpoint: string; field?: EndpointField },
  allowsHttp: AllowsHttp,
): string {
  const { provider, bucket, endpoint, field = 'endpoint' } = input;
  if (endpoint === '') return '';
  const url = parseOrigin(endpoint, field);
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const literal = isIP(address) !== 0;
  if (!literal && !isHostName(url.hostname)) invalid(field, 'must name a host');
  // Only S3 servers are on premises.
  if (url.protocol === 'http:' && !(allowsHttp(address) && (literal || provider === 's3'))) {
    invalid(
      field,
      'must use https (http is for S3 servers at addresses that the operator has allowed)',
      'not_allowed',
    );
  }
  if (!literal) url.hostname = withoutBucket(provider, bucket, url.hostname);
  return url.origin;
}

/** Reads an endpoint, whose scheme may be left out. @throws CommandRejected invalid_request */
export function parseOrigin(endpoint: string, field: string): URL {
  // The URL parser drops or rewrites these characters silently.
  if (!/^[^\s\\\p{Cc}]{1,300}$/u.test(endpoint)) invalid(field, 'must be an origin such as https://host');
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`;
  if (!URL.canParse(text)) invalid(field, 'must be an origin such as https://host');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') invalid(field, 'must use https');
  const bare = url.pathname === '/' && !/[?#@]/.test(text);
  if (!bare) invalid(field, 'must be an origin, without path, query or credentials');
  return url;
}

/**
 * Removes a leading `bucket.` that `bucketAddress` adds again. It keeps it before other hosts, where it is part of the
 * host's name (`bucketPlace`).
 */
function withoutBucket(provider: StorageProvider, bucket: string, host: string): string {
  const prefix = `${bucket.toLowerCase()}.`;
  if (serviceHost(provider, host).known || !host.startsWith(prefix)) return host;
  const rest = host.slice(prefix.length);
  if (!isHostName(rest)) return host;
  // A host name has no capitals, so a host before which S3 finds such a bucket does not exist.
  return isProviderHost(provider, rest) || (provider === 's3' && prefix !== `${bucket}.`) ? rest : host;
}

/** The providers' limits of a whole key, in bytes. */
const objectKeyBytesMax: Readonly<Record<StorageProvider, number>> = { s3: 1024, oss: 1023, cos: 850 };

/**
 * Whether the provider refuses keys that begin with a slash or a backslash. Sources: OSS, error 0016-00000005; COS, "Object
 * overview", naming conventions. Amazon S3 accepts both.
 */
const refusesSlashes: Readonly<Record<StorageProvider, boolean>> = { s3: false, oss: true, cos: true };

/** The rule for a key of which only the provider is unknown: a key that it refuses, every storage refuses. */
export const widestKeyRule: KeyRule = {
  bytesMax: Math.max(...Object.values(objectKeyBytesMax)),
  refusesSlashes: null,
};

/** Returns the rule of a storage. @param basePath as `checkBasePath` returns it */
export function keyRuleOf(provider: StorageProvider, basePath: string): KeyRule {
  return {
    bytesMax: objectKeyBytesMax[provider] - Buffer.byteLength(wholeKey(basePath, '')),
    refusesSlashes: refusesSlashes[provider] ? provider : null,
  };
}

/** Returns the key in the bucket, which is signed. @param basePath as `checkBasePath` returns it */
export function wholeKey(basePath: string, objectKey: string): string {
  return basePath === '' ? objectKey : `${basePath}/${objectKey}`;
}

/** What a storage accepts as a key below its base path. */
export interface KeyRule {
  readonly bytesMax: number;
  /** The provider, if it refuses keys that begin with a slash or a backslash. */
  readonly refusesSlashes: string | null;
}

/**
 * Returns the key unchanged. Empty segments are part of a key: every provider has them, and no browser rewrites them. A
 * browser rewrites the segments `.` and `..`, which breaks the signature. The first character is checked below a base path
 * too, because a base path can change.
 * @throws CommandRejected invalid_request, naming the field
 */
export function checkObjectKey(key: string, field: string, { bytesMax, refusesSlashes }: KeyRule): string {
  if (!isPrintable(key)) invalid(field, 'must not contain control characters');
  if (!/[^/]/.test(key)) invalid(field, 'must contain more than slashes');
  if (key.split('/').some((segment) => segment === '.' || segment === '..'))
    invalid(field, 'must not contain the segments . and ..');
  if (refusesSlashes !== null) refuseSlash(key, field, refusesSlashes);
  if (Buffer.byteLength(key) > bytesMax)
    invalid(field, `must be at most ${bytesMax} bytes below the storage's base_path`);
  return key;
}

/** @throws CommandRejected invalid_request for a path that begins with a slash or a backslash */
function refuseSlash(path: string, field: string, provider: string): void {
  if (/^[/\\]/.test(path))
    invalid(field, `must not begin with a slash or a backslash, which ${provider} refuses`);
}
