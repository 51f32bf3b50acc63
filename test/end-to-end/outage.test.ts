import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import {
  keyEnvironment,
  type Environment,
  freePort,
  type ServiceProcess,
  spawnService,
  givenDirectory,
  givenService,
  loggedIn,
} from '../support/servers/service-process.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { queuedMsOf } from '../support/servers/process-costs.js';
import { payOrder, placeOrder, standardEnvironment } from '../support/clients/standard-platform.js';

async function given(t: ExecutionContext, environment: Environment = {}) {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = givenDirectory(t);
  const metricsPort = await freePort();
  return {
    server,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
    start: {
      directory,
      port: await freePort(),
      environment: {
        ...keyEnvironment,
        EVENTSTOREDB_URL: server.url,
        METRICS_PORT: String(metricsPort),
        ...standardEnvironment,
        ...environment,
      },
    },
  };
}

/** Returns how long the service and its server, which runs in this process, have waited for a core. */
async function queuedMs(service: ServiceProcess): Promise<number> {
  const both = await Promise.all([service, process].map((one) => queuedMsOf(one)));
  return both.reduce((sum, ms) => sum + ms, 0);
}

/** Returns the messages of the log at level warn and above, without those about requests. */
function warnings(service: ServiceProcess): readonly string[] {
  return loggedIn(service.output())
    .filter(({ level, msg }) => level >= 40 && msg !== 'request failed')
    .map(({ msg }) => msg);
}

test('A start waits for an EventStoreDB that is away, says so, and listens when it can serve', async (t) => {
  // Given a server that is away
  const { server, start, metricsUrl } = await given(t);
  await server.network.refuse();
  // When the service starts
  const service = spawnService(start);
  t.teardown(() => service.kill());
  // Then the terminal says what it waits for, the process lives, and no balancer finds its port
  await eventually('the service says that it waits', () => service.output().includes('stowage: waiting for'));
  t.true(service.output().includes(`stowage: waiting for EventStoreDB at 127.0.0.1:${server.port}: `));
  t.is((await fetch(`${metricsUrl}/healthz`)).status, 200);
  t.is((await fetch(`${metricsUrl}/metrics`)).status, 200);
  await t.throwsAsync(fetch(`${service.url}/healthz`));
  await eventually('a warning', () => warnings(service).length > 0);
  t.deepEqual(warnings(service), ['a store does not answer']);
  // When the server comes, then the service says so, and is ready with its first reply
  await server.network.accept();
  await eventually('the service listens', () => service.output().includes('Stowage listens on'));
  t.is((await fetch(`${service.url}/readyz`)).status, 200);
  await eventually('the service says that the server answers again', () =>
    /stowage: EventStoreDB at 127\.0\.0\.1:\d+ answers again after \d+ s\n/.test(service.output()),
  );
  t.is(await service.stop(), 0);
});

test('SIGTERM ends a start that waits for MongoDB', async (t) => {
  const { start } = await given(t, {
    MONGODB_URL: 'mongodb://user:canary@127.0.0.1:1/stowage?authSource=admin',
  });
  const service = spawnService(start);
  t.teardown(() => service.kill());
  await eventually('the service waits for MongoDB', () =>
    service.output().includes('stowage: waiting for MongoDB at 127.0.0.1:1: '),
  );
  t.is(await service.stop(), 0);
  t.false(service.output().includes('canary'));
});

test('A paid order is fulfilled within 2 s after an outage, and the outage has two lines in the log', async (t) => {
  // Given an order whose payment is settled and whose grant fails
  const { server, start } = await given(t);
  const service = await givenService(t, start);
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const order = await placeOrder(client, headers);
  const status = async (): Promise<unknown> =>
    (await client.get(`/api/v1/orders/${textOf(order, 'id')}`, headers)).json()['status'];
  server.faults.decideBy(({ kind, stream }) =>
    kind === 'append' && stream?.startsWith('stowage.user-') === true
      ? { apply: 'never', answer: 'unavailable' }
      : undefined,
  );
  const paid = await payOrder(client, order);
  t.is(paid.status, 200, paid.text);
  await eventually('the order is paid', async () => (await status()) === 'paid');
  const before = warnings(service).length;

  // When the server goes away for a while and comes back
  await server.network.refuse();
  await eventually('the service waits for EventStoreDB', () =>
    service.output().includes('stowage: waiting for EventStoreDB'),
  );
  t.is((await fetch(`${service.url}/readyz`)).status, 200, 'reads are served');
  await wait(4_000);
  server.faults.decideBy(null);
  const queuedBefore = await queuedMs(service);
  const returnedMs = Date.now();
  await server.network.accept();

  // Then the order is fulfilled within 2 s, without the time in which the machine had no core for the processes
  const fulfilled = () => server.log.records.find(({ type }) => type === 'OrderFulfilled');
  await eventually('the order is fulfilled in the log', () => fulfilled() !== undefined);
  const tookMs = (fulfilled()?.createdMs ?? Infinity) - returnedMs;
  const queued = (await queuedMs(service)) - queuedBefore;
  const took = `fulfilled after ${tookMs} ms, ${Math.round(queued)} of them without a core`;
  t.log(took);
  t.true(tookMs - queued <= 2_000, took);
  await eventually('the order is shown as fulfilled', async () => (await status()) === 'fulfilled');
  await eventually('the service says that the server answers', () =>
    service.output().includes(' answers again after '),
  );
  t.deepEqual(warnings(service).slice(before), ['a store does not answer'], 'no reader adds a line');
  const me = asObject((await client.get('/api/v1/auth/me', headers)).json()['data']);
  t.is(me['capacity_bytes'], 1_073_741_824 + 107_374_182_400);
  t.is(await service.stop(), 0);
});
