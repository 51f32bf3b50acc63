import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What no allow-list opens: the metadata services of the large clouds, which hand out credentials to whoever asks from
 * the machine (AWS, Azure, GCP and others; Alibaba; Tencent; Oracle; AWS over IPv6).
 */
const metadataAddresses = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.0.23',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
];

/**
 * Whether this service may speak to an address that somebody has named (DESIGN 4.3): public unicast addresses, and what
 * the operator has allowed. An IPv4 address inside an IPv6 one (mapped, NAT64, 6to4) is judged as the IPv4 address.
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
    return address.range() === 'unicast' || allowed.check(address.toString(), address.kind());
  };
}

/** The IPv4 address that a NAT64 (RFC 6052) or 6to4 (RFC 3056) address leads to, or the address itself. */
function withoutWrapping(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === 'rfc6052') return new ipaddr.IPv4(bytes.slice(12, 16));
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return address;
}
