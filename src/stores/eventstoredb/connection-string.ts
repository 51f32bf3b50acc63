/** The address of a node; the client uses the same names. */
export interface EndPoint {
  readonly address: string;
  readonly port: number;
}

/** The checked content of a connection string. */
export interface ConnectionSettings {
  readonly endpoints: readonly EndPoint[];
  /** Whether the client finds the leader by gossip. With false it uses the one host directly. */
  readonly cluster: boolean;
  readonly tls: boolean;
  readonly tlsCAFile: string | null;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Whole numbers that the client receives under the same names. */
  readonly tuning: Readonly<Partial<Record<TuningOption, number>>>;
}

/** The other conditions that decide whether a connection is acceptable. */
export interface ConnectionPolicy {
  /** The value of the environment variable DEBUG. */
  readonly debug?: string | undefined;
  readonly production?: boolean;
  /** Accepts `tls=false` beyond loopback, for test servers on a network that no other program uses. */
  readonly allowInsecureNetwork?: boolean;
}

const shape =
  /^(?<scheme>(?:esdb|kurrentdb)(?<discover>\+discover)?):\/\/(?:(?<username>[^:@/?#\s]+):(?<password>[^:@/?#\s]+)@)?(?<hosts>[^@/?#\s]+)\/?(?:\?(?<query>[^?#\s]*))?$/;
const host = /^(?<address>[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?$/;
const defaultPort = 2113;

/** The minimum of each option. gossipTimeout is in seconds; the others are in milliseconds or are counts. */
const tuningOptions = {
  maxDiscoverAttempts: 1,
  discoveryInterval: 1,
  gossipTimeout: 1,
  keepAliveInterval: 10_000,
  keepAliveTimeout: 1,
} as const;
type TuningOption = keyof typeof tuningOptions;

/** Options of the client that would break a guarantee of this adapter, and the reason for each refusal. */
const refusedOptions: Readonly<Record<string, string>> = {
  throwOnAppendFailure: 'failed appends are always errors here',
  defaultDeadline: 'every call has its own time limit here',
  tlsVerifyCert: 'certificates are always verified; name the authority with tlsCAFile',
  userCertFile: 'sign in with user:password@ in front of the host',
  userKeyFile: 'sign in with user:password@ in front of the host',
};

/**
 * Parses more strictly than the client, which prints the whole string with its password when it meets an unknown option
 * (`parseConnectionString.js` of 6.2.1). Returns the settings, or every problem as a sentence without the string.
 */
export function parseConnectionString(
  url: string,
  policy: ConnectionPolicy = {},
): { readonly settings: ConnectionSettings } | { readonly problems: readonly string[] } {
  const { scheme, discover, username, password, hosts, query } = shape.exec(url)?.groups ?? {};
  if (scheme === undefined || hosts === undefined) {
    return {
      problems: [
        'must look like kurrentdb://user:password@host:2113 or kurrentdb+discover://user:password@host:2113, or begin with esdb:// or esdb+discover://, with percent-encoded user and password',
      ],
    };
  }
  const problems: string[] = [];
  const endpoints = parseHosts(hosts, problems);
  const options = parseOptions(query ?? '', problems);
  const credentials = parseCredentials(username, password, problems);
  const settings: ConnectionSettings = {
    endpoints,
    cluster: discover !== undefined || endpoints.length > 1,
    credentials,
    ...options,
  };
  problems.push(...policyProblems(settings, policy));
  return problems.length === 0 ? { settings } : { problems };
}

function parseHosts(hosts: string, problems: string[]): EndPoint[] {
  return hosts.split(',').map((text) => {
    const { address = '', port } = host.exec(text)?.groups ?? {};
    const number = port === undefined ? defaultPort : Number(port);
    if (address === '' || number === 0 || number > 65_535) {
      problems.push('must name hosts as name:port or IPv4:port, separated by commas');
    }
    return { address, port: number };
  });
}

function parseCredentials(
  username: string | undefined,
  password: string | undefined,
  problems: string[],
): ConnectionSettings['credentials'] {
  if (username === undefined || password === undefined) return null;
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    problems.push('has a user or password with a percent sign that encodes nothing; write % as %25');
    return null;
  }
}

function parseOptions(
  query: string,
  problems: string[],
): Pick<ConnectionSettings, 'tls' | 'tlsCAFile' | 'tuning'> {
  const parameters = new URLSearchParams(query);
  const tuning: Partial<Record<TuningOption, number>> = {};
  for (const [name, value] of parameters) {
    if (isTuningOption(name)) {
      tuning[name] = Number(value);
      if (!/^\d{1,9}$/.test(value) || Number(value) < tuningOptions[name]) {
        problems.push(`has ${name}, which must be a whole number of at least ${tuningOptions[name]}`);
      }
    } else {
      const problem = optionProblem(name, value);
      if (problem !== null) problems.push(problem);
    }
  }
  if (new Set(parameters.keys()).size !== parameters.size) problems.push('has an option twice');
  return { tls: parameters.get('tls') !== 'false', tlsCAFile: parameters.get('tlsCAFile'), tuning };
}

function optionProblem(name: string, value: string): string | null {
  switch (name) {
    case 'tls':
      return value === 'true' || value === 'false' ? null : 'has tls, which must be true or false';
    case 'nodePreference':
      return value === 'leader'
        ? null
        : 'has nodePreference, which must be leader: an append must be visible to the next read';
    case 'tlsCAFile':
      return value === '' ? 'has tlsCAFile without a value' : null;
  }
  const reason = refusedOptions[name];
  if (reason !== undefined) return `must not have ${name}: ${reason}`;
  // The sentence omits the name: after an unescaped & or ? in the password, it contains a part of the password.
  return 'has an option that is not known here';
}

function policyProblems(settings: ConnectionSettings, policy: ConnectionPolicy): string[] {
  const problems: string[] = [];
  if (settings.tls && settings.credentials === null) {
    problems.push('needs user:password@ in front of the host, because the connection is secured');
  }
  if (isReadableByOthers(settings) && policy.allowInsecureNetwork !== true) {
    problems.push(
      'has tls=false, which is accepted beyond loopback only with EVENTSTOREDB_ALLOW_INSECURE=true',
    );
  }
  if (policy.production === true && debugShowsSecrets(policy.debug ?? '')) {
    problems.push('cannot be used while DEBUG includes esdb: passwords and events would be printed');
  }
  return problems;
}

/** Tells whether the connection leads beyond this machine without TLS. */
export function isReadableByOthers({ tls, endpoints }: ConnectionSettings): boolean {
  return !tls && !endpoints.every(({ address }) => /^(localhost|127(\.\d{1,3}){3})$/.test(address));
}

/** Tells whether DEBUG enables a message of the client that shows secrets, by the rules of the package `debug`. */
function debugShowsSecrets(debug: string): boolean {
  const names = ['esdb:command', 'esdb:command:grpc', 'esdb:connection', 'esdb:events'];
  return debug
    .split(/[\s,]+/)
    .filter((pattern) => pattern !== '' && !pattern.startsWith('-'))
    .map((pattern) => pattern.split('*').map(escapeRegExp).join('.*'))
    .some((pattern) => names.some((name) => new RegExp(`^${pattern}$`).test(name)));
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function isTuningOption(name: string): name is TuningOption {
  return Object.hasOwn(tuningOptions, name);
}
