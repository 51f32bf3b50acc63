import test, { type ExecutionContext } from 'ava';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { eventually } from '../support/eventually.js';
import { aroundCalls } from '../support/fakes/around-calls.js';
import { appendAssets } from '../support/given/append-assets.js';
import { makeServiceClient, type ServiceReply, signedIn, textOf } from '../support/clients/service-client.js';
import { givenDirectory, openStores } from '../support/servers/embedded-directory.js';
import { givenInProcess, grantStorageIn } from '../support/servers/service-in-process.js';

const few = 10;
const many = 100_000;
const repetitions = 5;
/** The totals have more digits with more assets. */
const bytesMore = 100;
const password = 'Correct-Horse-9';

/** The calls of requests. The process itself reads records and checkpoints, which are not among them. */
const counted: ReadonlySet<string> = new Set<keyof ReadModelStore | keyof EventStore>([
  ...(['get', 'getEach', 'getMany', 'find', 'findInOrder', 'ids', 'scan', 'read'] as const),
]);

interface Cost {
  readonly calls: number;
  /** Documents, events and ids that the calls return. */
  readonly returned: number;
  /** Their size as JSON. */
  readonly bytes: number;
}

test('GET auth/me, sign-in and upload-url cost the same with 10 and with 100,000 assets (F1)', async (t) => {
  t.timeout(1_200_000);
  // Given a project with a storage, 10 assets and another one to upload
  const { service, costOf, append } = await start(t);
  const client = makeServiceClient(service.url);
  const owner = await client.register('ada@example.org', password);
  const { headers } = owner;
  const project = await client.makeProject(headers);
  const path = `/api/v1/projects/${project}`;
  await grantStorageIn(service, project);
  const bucket = { name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' };
  const credentials = { access_key: 'AK', secret_key: 'SK' };
  const bound = await client.post(`${path}/storages`, { ...bucket, credentials }, headers);
  const storageId = textOf(bound.json(), 'id');
  const facts = { name: 'a', object_key: 'a', media_type: 'video/mp4', size: 1, storage_id: storageId };
  const asset = textOf((await client.post(`${path}/assets`, facts, headers)).json(), 'id');
  const costs = async (): Promise<Readonly<Record<string, Cost>>> => ({
    me: await costOf(() => client.get('/api/v1/auth/me', headers)),
    upload: await costOf(() => client.post(`${path}/assets/${asset}/upload-url`, {}, headers)),
    // A sign-in reads the sessions of the account, so each one is ended again.
    login: await costOf(
      () => client.post('/api/v1/auth/login', { email: 'ada@example.org', password }),
      async (reply) => {
        const session = signedIn(reply.json());
        await client.post('/api/v1/auth/logout', {}, session.headers);
      },
    ),
  });
  const usedBytes = async (): Promise<unknown> => (await client.get(path, headers)).json()['used_bytes'];
  await append({ from: 0, until: few, project, storageId });
  t.is(await usedBytes(), few + 1);
  // The first requests also fill caches.
  await costs();
  const before = await costs();
  // When it has 100,000
  await append({ from: few, until: many, project, storageId });
  t.is(await usedBytes(), many + 1);
  // Then the same calls return as many documents, of the same size
  const after = await costs();
  t.log(JSON.stringify(before), JSON.stringify(after));
  for (const [request, { calls, returned, bytes }] of Object.entries(before)) {
    t.like(after[request], { calls, returned }, request);
    t.true((after[request]?.bytes ?? Infinity) <= bytes + bytesMore, request);
  }
});

async function start(t: ExecutionContext) {
  const directory = givenDirectory(t);
  const opened = await openStores(directory);
  t.teardown(() => opened.close());
  let [calls, returned, bytes] = [0, 0, 0];
  const counting = <Store extends object>(store: Store): Store =>
    aroundCalls({ ...store }, (name, run) => (counted.has(name) ? count(run) : run()));
  const count = async (run: () => unknown): Promise<unknown> => {
    const result = await run();
    calls += 1;
    returned += Array.isArray(result) ? result.length : 1;
    bytes += JSON.stringify(result, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ).length;
    return result;
  };
  const stores = {
    ...opened,
    eventStore: counting(opened.eventStore),
    readModelStore: counting(opened.readModelStore),
    allEmbedded: true,
  };
  const service = await givenInProcess(t, { directory, stores });

  /** Resolves when the views have all events. */
  const viewsAreAtTheHead = async (): Promise<void> => {
    const head = await opened.eventStore.head();
    const { projections } = service;
    const isThere = (): boolean =>
      projections.live().statuses.every(({ position }) => position !== null && position >= (head ?? ''));
    await eventually('the views have all events', isThere, { pollMs: 50 });
  };

  /**
   * Returns the least cost of several repetitions, with what the projectors read for the request. The views reach the head
   * before and after each one, so that on a loaded machine the reads for one request do not count for the next one.
   * A timer of the process may still read at the same moment, so the least cost counts.
   */
  const costOf = async (
    request: () => Promise<ServiceReply>,
    undo: (reply: ServiceReply) => Promise<void> = () => Promise.resolve(),
  ): Promise<Cost> => {
    const costs: Cost[] = [];
    for (let n = 0; n < repetitions; n += 1) {
      await viewsAreAtTheHead();
      const before = { calls, returned, bytes };
      const reply = await request();
      await viewsAreAtTheHead();
      t.true(reply.status < 300, reply.text);
      const cost = { calls: calls - before.calls, returned: returned - before.returned };
      costs.push({ ...cost, bytes: bytes - before.bytes });
      await undo(reply);
    }
    return costs.reduce((one, other) => (one.bytes <= other.bytes ? one : other));
  };

  /** Appends one event for each asset, and waits for the views. */
  const append = async (assets: Parameters<typeof appendAssets>[1]): Promise<void> => {
    await appendAssets(opened.eventStore, assets);
    await viewsAreAtTheHead();
  };
  return { service, costOf, append };
}
