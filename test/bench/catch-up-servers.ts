import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { makeServiceClient } from '../support/clients/service-client.js';
import {
  keyEnvironment,
  freePort,
  makeDataDirectory,
  type ServiceProcess,
  startService,
} from '../support/servers/service-process.js';
import { makeCountingProxy } from '../support/servers/proxies.js';
import { cpuMsOf } from '../support/servers/process-costs.js';
import {
  openTestStore,
  type EventStoreDbServer,
  startEventStoreDbServer,
} from '../support/servers/eventstoredb-server/server.js';
import { compare, type Comparison } from './measure.js';
import { fillMixedLog } from '../support/given/mixed-log.js';

/** Processes that start together all read for the first seconds. A long log shows what follows. */
const events = 60_000;
const rounds = 3;
/** The limit for each wait. */
const patienceMs = 600_000;
const restMs = 5_000;

/** Compares the catch-up of all views of an empty database by four processes with that by one, on MongoDB's protocol. */
export async function benchCatchUpOnServers(): Promise<readonly Comparison[]> {
  const server = process.env['MONGODB_URL'] || undefined;
  if (server === undefined) {
    process.stdout.write('SKIPPED the catch-up on MongoDB: no MONGODB_URL\n');
    return [];
  }
  const database = `bench_${randomBytes(6).toString('hex')}`;
  const log = await startEventStoreDbServer();
  try {
    await givenData(log, { server, database });
    return [
      await compare(
        {
          what: `catching up on ${events.toLocaleString('en')} events with 4 processes, on MongoDB`,
          anchor: 'with 1',
          unit: 's',
          goal: { atMost: 1.2 },
        },
        rounds,
        {
          ours: () => catchUp(log, { server, database }, 4),
          anchor: () => catchUp(log, { server, database }, 1),
        },
      ),
    ];
  } finally {
    await log.close();
    const client = await new MongoClient(server).connect();
    await client.db(database).dropDatabase();
    await client.close();
  }
}

interface Servers {
  readonly server: string;
  readonly database: string;
}

/** Makes the state of a service, which must exist beside a log with users, and a long log that its reactions have served. */
async function givenData(log: EventStoreDbServer, servers: Servers): Promise<void> {
  const directory = await makeDataDirectory();
  const serve = async (): Promise<ServiceProcess> =>
    startService({
      directory: directory.path,
      port: await freePort(),
      environment: environmentOf(log, servers),
      cpuMs: patienceMs,
    });
  const first = await serve();
  await makeServiceClient(first.url).register('ada@example.org', 'Correct-Horse-7');
  await first.stop();
  const store = openTestStore(log.url, { streamPrefix: 'stowage.' });
  await fillMixedLog(store, events);
  await store.close();
  // The reactions look at the stream of every second event. A service that lost its views alone has their marks.
  const second = await serve();
  await untilReactionsRest(log);
  await second.stop();
  await directory.remove();
}

/** Waits until no stream is read for some seconds. Only reads of the whole log go on. */
async function untilReactionsRest({ faults }: EventStoreDbServer): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let [seen, restsSince] = [0, performance.now()];
  while (performance.now() - restsSince < restMs) {
    if (performance.now() > deadline) throw new Error('the reactions still read streams');
    await wait(500);
    const ofStreams = faults.calls.filter(({ stream }) => stream !== null).length;
    if (ofStreams > seen) [seen, restsSince] = [ofStreams, performance.now()];
  }
}

function environmentOf({ url }: EventStoreDbServer, { server, database }: Servers): Record<string, string> {
  const mongoDbUrl = new URL(server);
  mongoDbUrl.pathname = `/${database}`;
  return {
    ...keyEnvironment,
    EVENTSTOREDB_URL: url,
    EVENTSTOREDB_ALLOW_INSECURE: 'true',
    MONGODB_URL: mongoDbUrl.href,
    LOG_LEVEL: 'error',
  };
}

/** Returns the seconds that all views take from an empty database, beyond the start of the same processes with views. */
async function catchUp(log: EventStoreDbServer, servers: Servers, count: number): Promise<number> {
  await dropViews(servers);
  const withoutViews = await start(log, { ...servers, count });
  const seconds = withoutViews - (await start(log, { ...servers, count }));
  if (seconds <= 0) throw new Error('the starts vary by more than the catch-up takes');
  return seconds;
}

/** Starts processes at once. Returns the seconds until all are ready: then every view is there. */
async function start(
  log: EventStoreDbServer,
  { count, ...servers }: Servers & { readonly count: number },
): Promise<number> {
  const { hostname: host, port } = new URL(servers.server);
  const proxy = await makeCountingProxy({ host, port: Number(port || 27_017) });
  const through = new URL(servers.server);
  through.host = `127.0.0.1:${proxy.port}`;
  // Otherwise the driver would connect to the members of a replica set directly.
  through.searchParams.delete('replicaSet');
  through.searchParams.set('directConnection', 'true');
  const directory = await makeDataDirectory();
  const callsBefore = log.faults.calls.length;
  const began = performance.now();
  const starting = Array.from({ length: count }, async (_, index) =>
    startService({
      directory: join(directory.path, String(index)),
      port: await freePort(),
      environment: environmentOf(log, {
        ...servers,
        server: through.href,
      }),
      cpuMs: patienceMs,
    }),
  );
  const started = await Promise.allSettled(starting);
  const seconds = (performance.now() - began) / 1_000;
  const services = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const cpuSeconds = (await Promise.all(services.map(cpuMsOf))).reduce((sum, ms) => sum + ms / 1_000, 0);
  const calls = log.faults.calls.length - callsBefore;
  process.stdout.write(
    `  ${count} processes: ${seconds.toFixed(1)} s, ${proxy.count()} commands, ${calls} calls, ${cpuSeconds.toFixed(1)} s of CPU\n`,
  );
  await Promise.all(services.map((service) => service.stop()));
  await proxy.close();
  await directory.remove();
  for (const one of started) if (one.status === 'rejected') throw one.reason;
  return seconds;
}

/** Removes the views and their checkpoints, and leaves the state and the marks of the reactions. */
async function dropViews({ server, database }: Servers): Promise<void> {
  const client = await new MongoClient(server).connect();
  const names = (await client.db(database).listCollections().toArray()).map(({ name }) => name);
  for (const name of names) if (name.includes('@')) await client.db(database).dropCollection(name);
  const checkpoints = client.db(database).collection<{ readonly _id: string }>('checkpoints');
  for (const { _id } of await checkpoints.find().toArray()) {
    if (!_id.startsWith('reaction/')) await checkpoints.deleteOne({ _id });
  }
  await client.close();
}
