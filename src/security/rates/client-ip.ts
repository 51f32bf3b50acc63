import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** The address of a client whose connection is closed already. */
const unknownAddress = '0.0.0.0';

/** Returns the client's address (src/security/README.md#client-addresses). Clients can write any entries to its left. */
export interface ClientIp {
  (socketAddress: string | undefined, forwardedFor: string | undefined): string;
  /** Returns whether the address is that of a trusted proxy, which may name its client. */
  readonly isProxy: (socketAddress: string | undefined) => boolean;
}

/**
 * @param trustedProxies addresses and CIDR ranges (`10.0.0.0/8`, `fd00::/8`, `192.0.2.1`)
 * @throws TypeError that names an entry that is neither
 */
export function makeClientIp(trustedProxies: readonly string[]): ClientIp {
  const ranges = trustedProxies.map(parseRange);
  const trusted = (address: Address) =>
    ranges.some((range) => address.kind() === range[0].kind() && address.match(range));
  const parseSocket = (socketAddress: string | undefined) =>
    parseAddress((socketAddress ?? '').replace(/%.*$/, ''));
  const clientIp = (socketAddress: string | undefined, forwardedFor: string | undefined): string => {
    const socket = parseSocket(socketAddress);
    if (socket === null) return unknownAddress;
    let client = socket;
    if (!trusted(client) || forwardedFor === undefined) return format(client);
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = parseAddress(withoutPort(entry.trim()));
      // No trusted proxy vouches for the entries to the left of an unreadable one.
      if (address === null) break;
      client = address;
      if (!trusted(client)) break;
    }
    return format(client);
  };
  return Object.assign(clientIp, {
    isProxy: (socketAddress: string | undefined) => {
      const socket = parseSocket(socketAddress);
      return socket !== null && trusted(socket);
    },
  });
}

/** Returns whether a text names proxies: an address or a CIDR range. */
export function isProxyRange(text: string): boolean {
  return rangeOf(text) !== null;
}

/** The key that counts a client, and the factor of its limit. */
type IpBucket = { readonly key: string; readonly factor: number };

/** Returns the buckets of an address. IPv6 counts by /64, and by /48 with ten times the limit. */
export function ipBuckets(ip: string): readonly IpBucket[] {
  // Every request of an agent asks for its buckets, and most addresses are IPv4.
  const address = ip.includes(':') ? parseAddress(ip) : null;
  if (address === null || address instanceof ipaddr.IPv4) return [{ key: ip, factor: 1 }];
  const network = (bits: number) => `${networkOf(address, bits)}/${bits}`;
  return [
    { key: network(64), factor: 1 },
    { key: network(48), factor: 10 },
  ];
}

function networkOf(address: ipaddr.IPv6, bits: number): string {
  const kept = address.parts.map((part, index) => (index < bits / 16 ? part : 0));
  return new ipaddr.IPv6(kept).toRFC5952String();
}

/** Parses an IP address, an IPv4-mapped one as IPv4; null for other texts, zones and short forms included. */
function parseAddress(text: string): Address | null {
  return isStrictIp(text) ? ipaddr.process(text) : null;
}

/** Removes port and brackets, which some proxies write: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

function format(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function parseRange(text: string): Range {
  const range = rangeOf(text);
  if (range === null) throw new TypeError(`'${text}' is neither an IP address nor a CIDR range`);
  return range;
}

function rangeOf(text: string): Range | null {
  const [base = '', bits, ...rest] = text.split('/');
  const address = isStrictIp(base) ? ipaddr.parse(base) : null;
  const length = address === null || rest.length > 0 ? null : prefixLength(address, bits);
  if (address === null || length === null) return null;
  // `parseAddress` returns mapped addresses as IPv4, so a mapped range becomes IPv4 too.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= 96)
    return [address.toIPv4Address(), length - 96];
  return [address, length];
}

function prefixLength(address: Address, bits: string | undefined): number | null {
  const bitsMax = address.kind() === 'ipv6' ? 128 : 32;
  if (bits === undefined) return bitsMax;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax ? Number(bits) : null;
}

function isStrictIp(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}
