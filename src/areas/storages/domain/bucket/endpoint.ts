import { BlockList, isIP } from 'node:net';
import { invalid } from '../../../../validation/field-problems.js';
import { type StorageProvider, isProviderHost, serviceHost } from './region.js';
import { isPrintable } from '../../../../validation/text.js';
import { refuseSlash, refusesSlashes } from './object-key-rules.js';

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

/**
 * Returns whether it is a lower-case host name (RFC 1123, section 2.1): labels of letters, digits and inner hyphens.
 * Underscores count as letters, because names in networks of Compose have them.
 */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
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
