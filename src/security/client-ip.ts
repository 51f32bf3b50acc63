import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Where a client's address is not known: its connection was closed already. */
const unknownAddress = '0.0.0.0';

/**
 * Finds the client's address: the socket's, unless that is a trusted proxy; then the right-most entry of
 * `X-Forwarded-For` that is none (DESIGN 5). What stands left of it anybody may have written.
 */
export type ClientIp = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * @param trustedProxies addresses and CIDR ranges (`10.0.0.0/8`, `fd00::/8`, `192.0.2.1`)
 * @throws TypeError naming the entry that is neither
 */
export function makeClientIp(trustedProxies: readonly string[]): ClientIp {
  const ranges = trustedProxies.map(parseRange);
  const trusted = (address: Address) =>
    ranges.some((range) => address.kind() === range[0].kind() && address.match(range));

  return (socketAddress, forwardedFor) => {
    const socket = parseAddress((socketAddress ?? '').replace(/%.*$/, ''));
    if (socket === null) return unknownAddress;
    let client = socket;
    if (!trusted(client) || forwardedFor === undefined) return spell(client);
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = parseAddress(withoutPort(entry.trim()));
      // What stands left of something unreadable was vouched for by nobody we know.
      if (address === null) break;
      client = address;
      if (!trusted(client)) break;
    }
    return spell(client);
  };
}

/** What a client is counted as, and how many times the limit holds for it. */
export interface IpBucket {
  readonly key: string;
  readonly factor: number;
}

/** IPv4 counts by address; IPv6 by its /64 and, ten times larger, by its /48, since a customer gets whole networks. */
export function ipBuckets(ip: string): readonly IpBucket[] {
  const address = parseAddress(ip);
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

/** Strictly an IP address, an IPv4-mapped one as its IPv4; null for anything else, zones and short forms too. */
function parseAddress(text: string): Address | null {
  return isStrictIp(text) ? ipaddr.process(text) : null;
}

/** `192.0.2.1:4711`, `[2001:db8::1]:4711` and `[2001:db8::1]`, as some proxies write. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

function spell(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function parseRange(text: string): Range {
  const [base = '', bits, ...rest] = text.split('/');
  const address = isStrictIp(base) ? ipaddr.parse(base) : null;
  const length = address === null || rest.length > 0 ? null : prefixLength(address, bits);
  if (address === null || length === null) {
    throw new TypeError(`'${text}' is neither an IP address nor a CIDR range`);
  }
  // A range of IPv4-mapped addresses is the IPv4 range that clients appear in.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= 96) {
    return [address.toIPv4Address(), length - 96];
  }
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
