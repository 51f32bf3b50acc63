import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';

import { connectionWaitMs, permitWaitMs, type MongoDbLimits } from './calls/limits.js';

/** The part of the connection that follows the URL. A limit of the URL may shorten a limit of this service. */
export interface ConnectionLimits {
  /** Connections, and so commands at once (`maxPoolSize`). */
  readonly poolSize: number;
  /** The longest wait for one of them (`waitQueueTimeoutMS`). */
  readonly permitWaitMs: number;
  /** A command without a reply for so long closes its connection (`socketTimeoutMS`, `timeoutMS`). */
  readonly silenceMs: number;
}

/** The waits of the driver that follow the URL, in ms. */
interface DriverWaits {
  /** The longest wait for a server that takes the command, or for a connection (`serverSelectionTimeoutMS`). */
  readonly selectionMs: number;
  /** The longest wait for a new connection (`connectTimeoutMS`). */
  readonly connectMs: number;
}

const defaultPoolSize = 20;

/** Mechanisms that need packages which this service does not contain. */
const foreignMechanisms: ReadonlySet<string> = new Set(['MONGODB-AWS', 'MONGODB-OIDC', 'GSSAPI']);
const unverified = ['tlsInsecure', 'tlsAllowInvalidCertificates', 'tlsAllowInvalidHostnames'] as const;
/** The time limits, of which the driver sees only the one that the service sets in their place. */
const waits = [
  ...['waitQueueTimeoutMS', 'socketTimeoutMS', 'timeoutMS', 'serverSelectionTimeoutMS', 'connectTimeoutMS'],
] as const;
const files = ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const;

/** Returns every reason why a connection string cannot work, as a sentence that follows the name of its variable. */
export function mongoDbProblems(url: string): readonly string[] {
  const { option } = parse(url);
  const problems: string[] = [];
  const mechanism = option('authMechanism')?.toUpperCase();
  if (mechanism !== undefined && foreignMechanisms.has(mechanism)) {
    problems.push(
      `has authMechanism=${mechanism}, which this service does not contain; use SCRAM-SHA-256 or MONGODB-X509`,
    );
  }
  for (const name of files) {
    const path = option(name);
    if (path !== undefined && !isReadable(path)) {
      problems.push(`has ${name}, which names a file that cannot be read; check the path and its rights`);
    }
  }
  const size = option('maxPoolSize');
  if (size !== undefined && !/^[1-9]\d{0,4}$/.test(size)) {
    problems.push('has maxPoolSize, which must be a whole number from 1 to 99999');
  }
  for (const name of waits) {
    if (!/^\d{1,9}$/.test(option(name) ?? '0'))
      problems.push(`has ${name}, which must be a whole number of milliseconds`);
  }
  return problems;
}

/** Returns what an operator should know of a connection string that works, in sentences without its content. */
export function mongoDbWarnings(url: string): readonly string[] {
  const { scheme, hosts, option } = parse(url);
  const tls = (option('tls') ?? option('ssl') ?? String(scheme === 'mongodb+srv')) === 'true';
  const disabled = unverified.find((name) => option(name) === 'true');
  if (tls && disabled !== undefined) {
    return [
      `MONGODB_URL has ${disabled}=true: the server's certificate is not verified, so another server can take its place; remove it and name the authority with tlsCAFile`,
    ];
  }
  if (!tls && !hosts.every(isLoopback)) {
    return [
      'MONGODB_URL leads beyond this machine without TLS: others on the network can read and change all data; add tls=true',
    ];
  }
  return [];
}

/** Returns the limits with that of the URL for one reply: `socketTimeoutMS` or `timeoutMS`, the shorter one. */
export function withReplyLimit(url: string, limits: MongoDbLimits): MongoDbLimits {
  const { atMost } = limitsOf(url);
  const replyMs = atMost(atMost(Infinity, 'socketTimeoutMS'), 'timeoutMS');
  return replyMs === Infinity ? limits : { ...limits, replyMs };
}

/** Returns the connection's limits: those of the URL where they are shorter. */
export function connectionLimits(url: string, limits: MongoDbLimits): ConnectionLimits {
  const { number, atMost } = limitsOf(url);
  return {
    poolSize: number('maxPoolSize') ?? defaultPoolSize,
    permitWaitMs: atMost(permitWaitMs(limits), 'waitQueueTimeoutMS'),
    silenceMs: Math.min(limits.writeMs, withReplyLimit(url, limits).replyMs ?? Infinity),
  };
}

/** Returns the waits of the driver: those of the URL where they are shorter. */
export function driverWaits(url: string, limits: MongoDbLimits): DriverWaits {
  const { atMost } = limitsOf(url);
  return {
    selectionMs: atMost(connectionWaitMs(withReplyLimit(url, limits)), 'serverSelectionTimeoutMS'),
    connectMs: atMost(limits.writeMs, 'connectTimeoutMS'),
  };
}

/** Reads options that are whole numbers above 0. To the driver, 0 is no limit. */
function limitsOf(url: string) {
  const { option } = parse(url);
  const number = (name: string): number | undefined => {
    const value = Number(option(name) ?? 0);
    return Number.isSafeInteger(value) && value > 0 ? value : undefined;
  };
  return { number, atMost: (ours: number, name: string): number => Math.min(ours, number(name) ?? ours) };
}

interface Parts {
  readonly scheme: string;
  /** Hosts without ports. */
  readonly hosts: readonly string[];
  /** Returns the last value of an option; its name has no case. */
  readonly option: (name: string) => string | undefined;
}

/** Splits a connection string. The driver refuses a string of another shape, which has no parts here. */
function parse(url: string): Parts {
  const [, scheme = '', authority = '', query = ''] =
    /^([a-z+]+):\/\/([^/?#]*)(?:\/[^?]*)?(?:\?(.*))?$/.exec(url) ?? [];
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    scheme,
    hosts: authority
      .slice(authority.lastIndexOf('@') + 1)
      .split(',')
      .map((host) => host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')),
    option: (name) => options.get(name.toLowerCase()),
  };
}

function isLoopback(host: string): boolean {
  // A path of a socket, percent-encoded, is on this machine.
  if (host === 'localhost' || host === '::1' || host.toLowerCase().startsWith('%2f')) return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
