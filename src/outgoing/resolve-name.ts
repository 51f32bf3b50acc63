import { codeOf } from '../kit/errors.js';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { canonicalName, type NameSettings } from './addresses.js';

/** Asks name servers for the addresses of one family. A test answers in their place. */
type AskServers = (name: string, family: 4 | 6) => Promise<readonly string[]>;

/** Resolves a name. Rejects with the code `ENOTFOUND`, or `EAI_AGAIN` where no server has answered. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The whole time of a look-up in ms. */
export const lookupMs = 2_000;
/** Two tries, the second twice as long: together they fit into the two seconds of a look-up. */
const asking = { timeout: 650, tries: 2 };
/** Once one family has addresses, the other one may add its own for so long. RFC 8305, section 3, waits 50 ms. */
const otherFamilyMs = 100;
/** The codes of c-ares that say that a name, or addresses of the family, do not exist. */
const missing: readonly string[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'];
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Makes the resolver of names that users give: the hosts file, then name servers, with the machine's search domains. It
 * takes none of Node's four threads, which `dns.lookup` holds until a server answers: src/outgoing/README.md#names-that-users-give.
 * @param ask the servers; by default those of the machine
 */
export function makeResolveName(settings: () => Promise<NameSettings>, ask?: AskServers): ResolveName {
  let resolver: { readonly ask: AskServers; readonly version: string } | null = null;

  return async (hostname) => {
    const { hosts, search, dots, version } = await settings();
    const name = canonicalName(hostname);
    const known = hosts.get(name);
    if (known !== undefined) return known;
    // RFC 6761, section 6.3. Some machines have no line for it.
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback;
    const askServers = ask ?? machineResolver(version);
    const startedMs = performance.now();
    let isUnanswered = false;
    for (const candidate of candidatesOf({ hostname, name, search, dots })) {
      const found = await addressesOf(candidate, askServers);
      if (found === 'unanswered') isUnanswered = true;
      else if (found.length > 0) return found;
      if (performance.now() - startedMs >= lookupMs) break;
    }
    throw failure(isUnanswered ? 'EAI_AGAIN' : 'ENOTFOUND', hostname);
  };

  /** A resolver keeps the servers that it has read at its start. */
  function machineResolver(version: string): AskServers {
    if (resolver?.version !== version) resolver = { ask: makeAskServers(), version };
    return resolver.ask;
  }
}

/** @param servers addresses with ports; by default the servers of the machine */
export function makeAskServers(servers?: readonly string[]): AskServers {
  const resolver = new Resolver(asking);
  if (servers !== undefined) resolver.setServers(servers);
  return (name, family) => (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
}

/** The names to ask for, in the order of resolv.conf(5). A dot at the end makes a name complete. */
function candidatesOf(asked: {
  readonly hostname: string;
  readonly name: string;
  readonly search: readonly string[];
  readonly dots: number;
}): readonly string[] {
  const { hostname, name, search, dots } = asked;
  if (hostname.endsWith('.')) return [name];
  const searched = search.map((domain) => `${name}.${domain}`);
  return name.split('.').length - 1 >= dots ? [name, ...searched] : [...searched, name];
}

async function addressesOf(name: string, ask: AskServers): Promise<readonly LookupAddress[] | 'unanswered'> {
  const families = ([4, 6] as const).map((family) => ofFamily(name, family, ask));
  const [four, six] = await Promise.all(families.map((own, index) => soon(own, families[1 - index] ?? own)));
  const found = [four, six].flatMap((addresses) => (Array.isArray(addresses) ? addresses : []));
  if (found.length > 0) return found;
  return four === 'unanswered' || six === 'unanswered' ? 'unanswered' : [];
}

/** Returns the addresses of a family, or none a moment after the other family has some. */
async function soon(own: Promise<Answer>, other: Promise<Answer>): Promise<Answer> {
  const late = other.then(async (answer) => {
    if (answer === 'unanswered' || answer.length === 0) return own;
    return new Promise<Answer>((resolve) => {
      setTimeout(() => resolve([]), otherFamilyMs).unref();
    });
  });
  return Promise.race([own, late]);
}

type Answer = LookupAddress[] | 'unanswered';

async function ofFamily(name: string, family: 4 | 6, ask: AskServers): Promise<Answer> {
  try {
    return (await ask(name, family)).map((address) => ({ address, family }));
  } catch (error) {
    return missing.includes(codeOf(error)) ? [] : 'unanswered';
  }
}

export function failure(code: 'ENOTFOUND' | 'EAI_AGAIN', hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code} ${hostname}`), { code });
}
