import { randomBytes } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import {
  grantStorage,
  makeServiceClient,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import {
  keyEnvironment,
  freePort,
  makeDataDirectory,
  startService,
} from '../support/servers/service-process.js';
import { callsOfRequests, givenServers } from '../support/servers/calls-of-requests.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { connections as connectionsOfLoad, load } from './load.js';
import { compare, type Comparison } from './measure.js';

const rounds = 5;
const seconds = 4;
/** Concurrent reads share commands and documents, so each connection of a row has a separate user, project and storage. */
const users = connectionsOfLoad;
/** The numbers of requests in flight below are multiples of it. */
const usersOfSaturation = 25;
const unlimited = { limit: 100_000_000, seconds: 60 };
/** The service accepts 1,000 connections, so more requests in flight are pipelined. */
const connectionsMax = 800;

/** Compares a served process on MongoDB's protocol with bare Koa that asks for one document, and with itself under load. */
export async function benchServers(): Promise<readonly Comparison[]> {
  await printCalls();
  const server = process.env['MONGODB_URL'] || undefined;
  if (server === undefined) {
    process.stdout.write('SKIPPED the rows on MongoDB: no MONGODB_URL\n');
    return [];
  }
  const mongoDbUrl = new URL(server);
  mongoDbUrl.pathname = `/bench_${randomBytes(6).toString('hex')}`;
  const directory = await makeDataDirectory();
  const log = await startEventStoreDbServer();
  const limits = join(directory.path, 'limits.json');
  await writeFile(limits, JSON.stringify({ session: unlimited, user: unlimited, register: unlimited }));
  const service = await startService({
    directory: directory.path,
    port: await freePort(),
    environment: {
      ...keyEnvironment,
      EVENTSTOREDB_URL: log.url,
      EVENTSTOREDB_ALLOW_INSECURE: 'true',
      MONGODB_URL: mongoDbUrl.href,
      LIMITS_FILE: limits,
      // One user sends all requests.
      MAX_REQUESTS: '10000',
      LOG_LEVEL: 'error',
    },
  });
  const bare = fork(fileURLToPath(new URL('./servers-anchor.js', import.meta.url)), [mongoDbUrl.href], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [origin] = (await once(bare, 'message')) as [string];
    const storages: Request[] = [];
    for (let user = 0; user < users; user += 1)
      storages.push(await givenStorage(service.url, directory.path, `ada${user}@example.org`));
    const [{ url, headers } = { url: '', headers: {} }] = storages;
    const row = { anchor: 'Koa with one findOne', unit: 'requests/s', goal: { atLeast: 0.4 } } as const;
    const anchor = () => load({ url: origin });
    return [
      await compare({ ...row, what: 'GET a storage on MongoDB' }, rounds, {
        ours: () => load({ url, headers }),
        anchor,
      }),
      await compare({ ...row, what: `GET the storages of ${users} users on MongoDB` }, rounds, {
        ours: () => load({ url: service.url, setupClient: oneEach(storages) }),
        anchor,
      }),
      ...(await saturation(storages.slice(0, usersOfSaturation))),
    ];
  } finally {
    bare.disconnect();
    await service.stop();
    await log.close();
    await directory.remove();
  }
}

/** Prints the calls to the event store and the commands to MongoDB of a request. A test holds the calls (test/end-to-end/calls.test.ts). */
async function printCalls(): Promise<void> {
  const servers = await givenServers();
  try {
    for (const { what, calls, commands, streams } of await callsOfRequests(servers)) {
      const asked =
        commands === null ? 'commands not counted: no MONGODB_URL' : `${commands.toFixed(1)} commands`;
      process.stdout.write(`${what}: ${calls.toFixed(1)} calls (${streams.join(', ')}), ${asked}\n`);
    }
  } finally {
    await servers.stop();
  }
}

async function saturation(storages: readonly Request[]): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const inFlight of [400, 800, 1_600]) {
    comparisons.push(
      await compare(
        {
          what: `GET the storages of ${storages.length} users on MongoDB, ${inFlight} in flight`,
          anchor: '100 in flight',
          unit: 'successes/s',
          goal: { atLeast: 0.8 },
        },
        3,
        { ours: () => successes(storages, inFlight), anchor: () => successes(storages, 100) },
      ),
    );
  }
  return comparisons;
}

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes each connection ask for one of the storages. */
function oneEach(storages: readonly Request[]): (client: autocannon.Client) => void {
  let given = 0;
  return (client) => {
    const { url, headers } = storages[given++ % storages.length] ?? { url: '', headers: {} };
    client.setRequests([{ method: 'GET', path: new URL(url).pathname, headers: { ...headers } }]);
  };
}

/** Returns the replies with status 200 in a second, for requests that the users share evenly. */
async function successes(storages: readonly Request[], inFlight: number): Promise<number> {
  const pipelining = Math.ceil(inFlight / connectionsMax);
  const connections = inFlight / pipelining / storages.length;
  const rates = await Promise.all(
    storages.map((storage) => successesOf(storage, { connections, pipelining })),
  );
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** Replies other than 200 are refusals of a service that has too much to do. */
async function successesOf(
  { url, headers }: Request,
  options: { readonly connections: number; readonly pipelining: number },
): Promise<number> {
  const result = await autocannon({ ...options, url, headers: { ...headers }, duration: seconds });
  const { '200': answered, '503': refused, ...others } = result.statusCodeStats ?? {};
  if (Object.keys(others).length > 0 || result.errors > 0)
    throw new Error(`${result.errors} errors, ${JSON.stringify({ refused, ...others })}`);
  return (answered?.count ?? 0) / result.duration;
}

async function givenStorage(origin: string, directory: string, email: string): Promise<Request> {
  const client = makeServiceClient(origin);
  const { headers } = await client.register(email, 'Correct-Horse-7');
  const project = textOf((await client.post('/api/v1/projects', { name: 'Plays' }, headers)).json(), 'id');
  await grantStorage(directory, project);
  const path = `/api/v1/projects/${project}/storages`;
  const storage = await client.post(path, storageRequest('Rushes'), headers);
  return { url: `${origin}${path}/${textOf(storage.json(), 'id')}`, headers: { ...headers } };
}
