import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What no allow-list opens: the metadata services of the large clouds, which hand out credentials to whoever asks from
 * the machine (AWS, Azure, GCP and others; containers and pods of AWS; Azure's agent; Alibaba; Tencent; Oracle; AWS and GCP
 * over IPv6).
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
 * Whether this service may speak to an address that somebody has named (DESIGN 4.3): public unicast addresses, and what
 * the operator has allowed. An IPv4 address inside an IPv6 one is judged as the IPv4 address.
 * @param allowedCidrs `STORAGE_ALLOWED_CIDRS`
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

/** Unicast, and of IPv6 within 2000::/3, all that is given out for the public Internet (IANA, "IPv6 Address Space"). */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/**
 * The IPv4 address that an IPv6 one leads to, or the address itself. Mapped ones (RFC 4291) are IPv4 to `ipaddr.process`; these
 * are NAT64 (RFC 6052), 6to4 (RFC 3056), translated (RFC 2765) and compatible ones (RFC 4291, 2.5.5.1).
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
