import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext, TestFn } from 'ava';
import { MongoClient, MongoServerError } from 'mongodb';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { MongoDbLimits } from '../../../src/stores/mongodb/calls/limits.js';
import { openMongoDbStores, type MongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { suite } from '../suite.js';
import { makeTcpProxy, type TcpProxy } from './proxies.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { startEventStoreDbServer, openTestStore } from './eventstoredb-server/server.js';
import { keyEnvironment } from './service-process.js';

/** The URL of the server in the environment, if any. */
export const mongoDbUrl = process.env['MONGODB_URL'] || undefined;

/** Declares tests that need a server of MongoDB. */
export function mongoDbSuite(test: TestFn, what: string, declare: () => void): void {
  suite(test, mongoDbUrl === undefined ? 'MONGODB_URL names no server' : null, what, declare);
}

/** Opens stores in a separate database, which is closed and dropped at the end of the test. */
export async function openTestStores(
  t: ExecutionContext,
  options: { readonly clock: Clock; readonly limits?: MongoDbLimits },
): Promise<MongoDbStores> {
  const { url } = await makeTestDatabase(t);
  return openStoresAt(t, url, options);
}

/** Limits for tests that do not measure time: the server of a busy machine is slow. */
const patient: MongoDbLimits = { openMs: 600_000, readMs: 600_000, writeMs: 600_000, indexMs: 600_000 };

/** Opens stores in the URL's database and closes them at the end of the test. The default limits are ten minutes. */
export async function openStoresAt(
  t: ExecutionContext,
  url: string,
  options: { readonly clock: Clock; readonly limits?: MongoDbLimits },
): Promise<MongoDbStores> {
  const stores = await openMongoDbStores({ url, random: Math.random, limits: patient, ...options });
  t.teardown(stores.close);
  return stores;
}

/** Makes an empty database and a separate client that reads it. */
export async function makeTestDatabase(
  t: ExecutionContext,
): Promise<{ url: string; name: string; client: MongoClient }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = urlOf({ ...serverParts(), database: name });
  const client = await new MongoClient(url, { useBigInt64: true }).connect();
  t.teardown(async () => {
    await dropDatabase(client, name);
    await client.close();
  });
  return { url, name, client };
}

/** A command of a killed process may still run in the server. mongo-java-server then fails to drop what the command makes. */
async function dropDatabase(client: MongoClient, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.db(name).dropDatabase();
      return;
    } catch (error) {
      if (!(error instanceof MongoServerError) || attempt === 3) throw error;
      await wait(500);
    }
  }
}

/** Makes a proxy in front of the first host of the server's URL, and the URL that leads through it. */
export async function makeMongoDbProxy(
  t: ExecutionContext,
  database: string,
): Promise<{ proxy: TcpProxy; url: string }> {
  const parts = serverParts();
  const [host = '', port = '27017'] = (parts.hosts.split(',')[0] ?? '').split(':');
  const proxy = await makeTcpProxy({ host, port: Number(port) });
  t.teardown(proxy.close);
  const options = new URLSearchParams(parts.options);
  // Otherwise the driver would connect to the members of a replica set directly.
  options.delete('replicaSet');
  options.set('directConnection', 'true');
  const hosts = `127.0.0.1:${proxy.port}`;
  return { proxy, url: urlOf({ ...parts, hosts, database, options: options.toString() }) };
}

/** Tells whether a chunk of the client is the command of this name. */
export function isCommand(chunk: Buffer, name: string): boolean {
  return chunk.includes(`\u0002${name}\u0000`);
}

interface UrlParts {
  readonly credentials: string;
  readonly hosts: string;
  readonly database: string;
  readonly options: string;
}

function serverParts(): UrlParts {
  if (mongoDbUrl === undefined) throw new Error('MONGODB_URL is not set');
  const parts = /^mongodb:\/\/([^@/]*@)?([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(mongoDbUrl);
  if (parts === null) throw new Error('MONGODB_URL must be of the form mongodb://host:port/ for these tests');
  const [, credentials = '', hosts = '', database = '', options = ''] = parts;
  return { credentials, hosts, database, options };
}

function urlOf({ credentials, hosts, database, options }: UrlParts): string {
  // Users are stored in `admin` unless the URL says otherwise, for all databases.
  const withSource =
    credentials === '' || options.includes('authSource') ? options : `authSource=admin&${options}`;
  return `mongodb://${credentials}${hosts}/${database}?${withSource}`;
}

/** A log that the processes of one test share. */
interface SuiteLog {
  /** `EVENTSTOREDB_URL` and the variables beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens the log beside the processes. */
  readonly open: () => EventStore;
}

let logs = 0;

/**
 * Starts the log of a test: the server or the cluster of EVENTSTOREDB_URL under a prefix that no other test has, otherwise the
 * fake one in this process. It ends with the test.
 */
export async function startSuiteLog(t: ExecutionContext): Promise<SuiteLog> {
  return logAt(process.env['EVENTSTOREDB_URL'] ?? (await startFake(t)).url);
}

/** One node without TLS, which a proxy can stand before. */
const plainNode = /^(?:esdb|kurrentdb):\/\/(?<host>[^:,/@]+):(?<port>\d+)\/?\?(?:.*&)?tls=false(?:&|$)/i;

/**
 * Starts the log of a test behind a proxy, which can fail. Where EVENTSTOREDB_URL names a cluster or a node with TLS, the log is
 * the fake one, and the test says so.
 */
export async function startProxiedLog(t: ExecutionContext): Promise<SuiteLog & { readonly proxy: TcpProxy }> {
  const given = process.env['EVENTSTOREDB_URL'];
  const node = plainNode.exec(given ?? '')?.groups;
  if (given !== undefined && node === undefined)
    t.log('not on EVENTSTOREDB_URL: no proxy can stand before it');
  const target =
    node === undefined ? await startFake(t) : { host: node['host'] ?? '', port: Number(node['port']) };
  const proxy = await makeTcpProxy({ host: '127.0.0.1', ...target });
  t.teardown(proxy.close);
  return { ...logAt(`esdb://127.0.0.1:${proxy.port}?tls=false`), proxy };
}

async function startFake(t: ExecutionContext): Promise<{ readonly url: string; readonly port: number }> {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  return server;
}

function logAt(url: string): SuiteLog {
  // Other runs may have written to the server.
  const streamPrefix = `test.${process.pid}.${Date.now()}.${(logs += 1)}.`;
  return {
    environment: {
      EVENTSTOREDB_URL: url,
      EVENTSTOREDB_ALLOW_INSECURE: 'true',
      STREAM_PREFIX: streamPrefix,
    },
    open: () => openTestStore(url, { streamPrefix }),
  };
}

/** Makes the environment of a service on both servers, each of which is behind a proxy. */
export async function startProxiedServers(t: ExecutionContext) {
  const { name } = await makeTestDatabase(t);
  const documents = await makeMongoDbProxy(t, name);
  const { proxy: log, environment, open } = await startProxiedLog(t);
  return {
    environment: { ...keyEnvironment, ...environment, MONGODB_URL: documents.url },
    open,
    proxies: { log, documents: documents.proxy },
  };
}
