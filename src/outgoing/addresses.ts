import { codeOf } from '../kit/errors.js';
import { readFile, stat } from 'node:fs/promises';
import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { SteadyClock } from '../kit/time/clock.js';
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

/** What the machine says about names: its hosts file, and how it searches for short names. */
export interface NameSettings {
  /** By lower-case name, without a dot at the end. */
  readonly hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  /** The domains in which a name is searched that has fewer dots than `dots`: resolv.conf(5), `search` and `ndots`. */
  readonly search: readonly string[];
  readonly dots: number;
  /** Changes when the files change. */
  readonly version: string;
}

/** The paths of the two files. Tests name their own. */
interface NameFiles {
  readonly hosts: string;
  readonly resolver: string;
}

export const systemNameFiles: NameFiles = {
  hosts: process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts',
  resolver: '/etc/resolv.conf',
};

/** Compose and Kubernetes change the files rarely, and a look-up should not wait for the disk. */
const againMs = 5_000;
const dotsMax = 15;

/**
 * Makes a function that returns the settings, and reads the files again when they have changed. A file that is missing or
 * cannot be read is an empty one, as in getaddrinfo(3).
 */
export function makeNameSettings(files: NameFiles, clock: SteadyClock): () => Promise<NameSettings> {
  let known: NameSettings | null = null;
  let readAtMs = -Infinity;
  let reading: Promise<NameSettings> | null = null;

  return () => {
    if (known !== null && clock.steadyMs() - readAtMs < againMs) return Promise.resolve(known);
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };

  async function read(): Promise<NameSettings> {
    readAtMs = clock.steadyMs();
    const version = `${await versionOf(files.hosts)} ${await versionOf(files.resolver)}`;
    if (known?.version === version) return known;
    const [hosts, resolver] = await Promise.all([textOf(files.hosts), textOf(files.resolver)]);
    // A process without a free descriptor opens the files later, when they have not changed.
    const isRead = hosts !== null && resolver !== null;
    known = {
      hosts: parseHosts(hosts ?? ''),
      ...parseResolver(resolver ?? ''),
      version: isRead ? version : 'unread',
    };
    return known;
  }
}

async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found === null ? 'none' : `${found.mtimeMs}-${found.size}-${found.ino}`;
}

/** Returns null for a file that cannot be read. */
async function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: unknown) => (codeOf(error) === 'ENOENT' ? '' : null));
}

/** Reads hosts(5): an address and its names on each line. */
export function parseHosts(text: string): NameSettings['hosts'] {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map(canonicalName)) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** Reads resolv.conf(5): the last `search` or `domain` counts. */
function parseResolver(text: string): Pick<NameSettings, 'search' | 'dots'> {
  let search: readonly string[] = [];
  let dots = 1;
  for (const [keyword = '', ...values] of linesOf(text)) {
    if (keyword === 'search') search = values.map(canonicalName);
    if (keyword === 'domain') search = values.slice(0, 1).map(canonicalName);
    const option =
      keyword === 'options' ? values.findLast((value) => /^ndots:\d{1,2}$/.test(value)) : undefined;
    if (option !== undefined) dots = Math.min(dotsMax, Number(option.slice('ndots:'.length)));
  }
  return { search: search.filter((domain) => domain !== ''), dots };
}

/** Returns the name in lower case, without a dot at the end. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function linesOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .map((line) => (line.split(/[#;]/, 1)[0] ?? '').split(/\s+/).filter((word) => word !== ''));
}
