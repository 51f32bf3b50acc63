import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The clouds' metadata services: AWS, Azure, GCP and others; containers and pods of AWS; the agent of Azure; Alibaba;
 * Tencent; Oracle; AWS and GCP over IPv6. No allow-list opens them: they give credentials to every local process.
 */
const metadataAddresses = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '169.254.0.23',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
];

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Makes the check of an address that a user names (src/outgoing/README.md#the-guard). It accepts public unicast
 * addresses and `STORAGE_ALLOWED_CIDRS`. It judges an IPv4 address inside an IPv6 address as IPv4.
 */
export function makeAllowedAddress(allowedCidrs: readonly string[]): (address: string) => boolean {
  const allowed = new BlockList();
  for (const cidr of allowedCidrs) {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    allowed.addSubnet(network.toString(), bits, network.kind());
  }
  const metadata = new Set(metadataAddresses.map((address) => ipaddr.process(address).toNormalizedString()));
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = withoutWrapping(ipaddr.process(text));
    if (metadata.has(address.toNormalizedString())) return false;
    return isPublic(address) || allowed.check(address.toString(), address.kind());
  };
}

/** Accepts unicast; of IPv6 only 2000::/3, IANA's range of the public Internet ("IPv6 Address Space"). */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/**
 * Returns the IPv4 address inside an IPv6 address: NAT64 (RFC 6052), 6to4 (RFC 3056), translated (RFC 2765), compatible
 * (RFC 4291, 2.5.5.1). `ipaddr.process` has unwrapped mapped ones (RFC 4291).
 */
function withoutWrapping(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  const isCompatible = range === 'unicast' && bytes.slice(0, 12).every((byte) => byte === 0);
  if (range === 'rfc6052' || range === 'rfc6145' || isCompatible) return new ipaddr.IPv4(bytes.slice(12));
  return address;
}
