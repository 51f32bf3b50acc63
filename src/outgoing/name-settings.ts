import { readFile, stat } from 'node:fs/promises';
import { type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { type SteadyClock, steadyMsOf } from '../kit/time/clock.js';

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
    if (known !== null && steadyMsOf(clock) - readAtMs < againMs) return Promise.resolve(known);
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };

  async function read(): Promise<NameSettings> {
    readAtMs = steadyMsOf(clock);
    const version = `${await versionOf(files.hosts)} ${await versionOf(files.resolver)}`;
    if (known?.version === version) return known;
    const [hosts, resolver] = await Promise.all([textOf(files.hosts), textOf(files.resolver)]);
    known = { hosts: parseHosts(hosts), ...parseResolver(resolver), version };
    return known;
  }
}

async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found === null ? 'none' : `${found.mtimeMs}-${found.size}-${found.ino}`;
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
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
