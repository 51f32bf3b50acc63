import { BlockList, isIP } from 'node:net';

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
