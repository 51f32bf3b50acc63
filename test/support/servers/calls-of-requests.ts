import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import {
  asObject,
  grantStorage,
  makeServiceClient,
  storageRequest,
  textOf,
} from '../clients/service-client.js';
import { eventually } from '../eventually.js';
import { keyEnvironment, freePort, makeDataDirectory, startService } from './service-process.js';
import { makeCountingProxy } from './proxies.js';
import { startEventStoreDbServer } from './eventstoredb-server/server.js';
import { payOrder, placeOrder, standardEnvironment } from '../clients/standard-platform.js';

/** Requests of each kind: a poll of the service in the time of one of them weighs little. */
const requests = 20;
const password = 'Correct-Horse-9';

/** What a request of one kind asks of the servers, in the mean. */
interface CallsOfRequest {
  readonly what: string;
  readonly calls: number;
  /** Null without a server in MONGODB_URL. */
  readonly commands: number | null;
  /** How long it takes, with the wait for its reactions, in seconds. Meanwhile the process sends two commands a second at rest. */
  readonly seconds: number;
  /** The kinds of the calls and the categories of their streams, each with its number a request. */
  readonly streams: readonly string[];
}

export type Servers = Awaited<ReturnType<typeof givenServers>>;

/** Starts `serve` on the fake event store, and on the server of MONGODB_URL where it is set. */
export async function givenServers() {
  const directory = await makeDataDirectory();
  const log = await startEventStoreDbServer();
  const server = process.env['MONGODB_URL'] || undefined;
  const target = server === undefined ? null : new URL(server);
  const proxy =
    target === null
      ? null
      : await makeCountingProxy({ host: target.hostname, port: Number(target.port || 27_017) });
  const service = await startService({
    directory: join(directory.path, 'data'),
    port: await freePort(),
    environment: {
      ...keyEnvironment,
      EVENTSTOREDB_URL: log.url,
      EVENTSTOREDB_ALLOW_INSECURE: 'true',
      LOG_LEVEL: 'error',
      ...standardEnvironment,
      ...(proxy !== null && {
        MONGODB_URL: `mongodb://127.0.0.1:${proxy.port}/calls_${randomBytes(6).toString('hex')}?directConnection=true`,
      }),
    },
  });
  return {
    service,
    calls: () => log.faults.calls,
    commands: () => proxy?.count() ?? null,
    stop: async (): Promise<void> => {
      await service.stop();
      await proxy?.close();
      await log.close();
      await directory.remove();
    },
  };
}

/** Sends requests of each kind, one after the other, and counts what they ask. */
export async function callsOfRequests({
  service,
  calls,
  commands,
}: Servers): Promise<readonly CallsOfRequest[]> {
  const client = makeServiceClient(service.url);
  const user = await client.register('ada@example.org', password);
  let refreshToken = user.refreshToken;
  const sent = async (method: string, path: string, body?: JsonObject): Promise<JsonObject> => {
    const reply = await client.send(`/api/v1${path}`, {
      method,
      headers: { ...user.headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (reply.status >= 300) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
    return reply.json();
  };
  const project = textOf(await sent('POST', '/projects', { name: 'Film' }), 'id');
  await grantStorage(service.directory, project);
  const path = `/projects/${project}`;
  const storage = textOf(await sent('POST', `${path}/storages`, storageRequest('Rushes')), 'id');
  const spare: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    spare.push(textOf(await sent('POST', '/projects', { name: 'Spare' }), 'id'));
    await grantStorage(service.directory, spare[n] ?? '');
  }
  const asset = { storage_id: storage, media_type: 'video/mp4', size: 1, name: 'Rhine' };
  let count = 0;
  const ofStreams = () => calls().filter(({ kind, stream }) => stream !== null && kind !== 'probe');
  const kinds: Readonly<Record<string, () => Promise<unknown>>> = {
    'GET storage': () => sent('GET', `${path}/storages/${storage}`),
    'list of assets': () => sent('GET', `${path}/assets`),
    'POST project': () => sent('POST', '/projects', { name: 'Film' }),
    'PATCH project': () => sent('PATCH', path, { name: `Film ${(count += 1)}` }),
    'POST storage': () =>
      sent('POST', `/projects/${spare[(count += 1) % spare.length]}/storages`, storageRequest('Rushes')),
    'POST asset': () => sent('POST', `${path}/assets`, asset),
    refresh: async () => {
      const reply = await sent('POST', '/auth/refresh', { refresh_token: refreshToken });
      refreshToken = textOf(asObject(asObject(reply['data'])['tokens']), 'refresh_token');
    },
    'a callback with its grant': async () => {
      await callbacks.pop()?.();
      await eventually('its reactions have ended', async () => {
        const before = ofStreams().length;
        await wait(100);
        return ofStreams().length === before;
      });
    },
    'a sign-in': () => sent('POST', '/auth/login', { email: 'ada@example.org', password }),
  };
  const callbacks: (() => Promise<unknown>)[] = [];
  for (let n = 0; n <= requests; n += 1) {
    const order = await placeOrder(client, user.headers);
    callbacks.push(() => payOrder(client, order));
  }
  const counted: CallsOfRequest[] = [];
  for (const [what, request] of Object.entries(kinds)) {
    await request();
    const [callsBefore, commandsBefore] = [ofStreams().length, commands()];
    const times = what === 'a sign-in' ? 5 : requests;
    const beganMs = performance.now();
    for (let n = 0; n < times; n += 1) await request();
    const seconds = (performance.now() - beganMs) / times / 1_000;
    const own = ofStreams().slice(callsBefore);
    const after = commands();
    counted.push({
      what,
      seconds,
      calls: own.length / times,
      commands: after === null || commandsBefore === null ? null : (after - commandsBefore) / times,
      streams: numbersByStream(own, times),
    });
  }
  return counted;
}

/** Returns for each kind of call and category of streams how many there were in a request. */
function numbersByStream(calls: ReturnType<Servers['calls']>, times: number): readonly string[] {
  const by = new Map<string, number>();
  for (const { kind, stream } of calls) {
    const name = `${kind} ${stream?.split('-')[0] ?? ''}`;
    by.set(name, (by.get(name) ?? 0) + 1);
  }
  return [...by].map(([name, number]) => `${name} ${(number / times).toFixed(1)}`);
}
