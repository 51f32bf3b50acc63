import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { ExecutionContext } from 'ava';
import { MongoClient, MongoServerError } from 'mongodb';

import type { Clock, Random } from '../../../src/kit/time/clock.js';
import type { MongoDbLimits } from '../../../src/stores/mongodb/calls/limits.js';
import { openMongoDbStores, type MongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { makeTcpProxy, type TcpProxy } from './tcp-proxy.js';

/** The URL of the server in the environment, if any. */
export const mongoDbUrl = process.env['MONGODB_URL'] || undefined;

/** Opens stores in a separate database, which is closed and dropped at the end of the test. */
export async function openTestStores(
  t: ExecutionContext,
  options: { readonly clock: Clock; readonly random?: Random; readonly limits?: MongoDbLimits },
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
  options: { readonly clock: Clock; readonly random?: Random; readonly limits?: MongoDbLimits },
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
