import { randomBytes } from 'node:crypto';

import type { ExecutionContext } from 'ava';
import { MongoClient } from 'mongodb';

import type { Clock, Random } from '../../src/event-sourcing/clock.js';
import type { MongoDbLimits } from '../../src/stores/mongodb/limits.js';
import { openMongoDbStores, type MongoDbStores } from '../../src/stores/mongodb/open-mongodb-stores.js';

/** The server that the environment names, if it does. */
export const mongoDbUrl = process.env['MONGODB_URL'] || undefined;

/** Stores in a database of the test's own, closed and dropped at its end. */
export async function openTestStores(
  t: ExecutionContext,
  options: { readonly clock: Clock; readonly random?: Random; readonly limits?: MongoDbLimits },
): Promise<MongoDbStores> {
  const { url } = await makeTestDatabase(t);
  const stores = await openMongoDbStores({ url, random: Math.random, ...options });
  t.teardown(stores.close);
  return stores;
}

/** An empty database, and a client of the test's own to look into it. */
export async function makeTestDatabase(
  t: ExecutionContext,
): Promise<{ url: string; name: string; client: MongoClient }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const client = await new MongoClient(serverUrl(), { useBigInt64: true }).connect();
  t.teardown(async () => {
    await client.db(name).dropDatabase();
    await client.close();
  });
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { url: url.href, name, client };
}

function serverUrl(): string {
  if (mongoDbUrl === undefined) throw new Error('MONGODB_URL is not set');
  return mongoDbUrl;
}
