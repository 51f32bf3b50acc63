import test, { type ExecutionContext } from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import {
  startProxiedLog,
  makeMongoDbProxy,
  makeTestDatabase,
  mongoDbSuite,
} from '../support/servers/store-servers.js';
import type { TcpProxy } from '../support/servers/proxies.js';
import {
  withoutLimits,
  givenService,
  givenDirectory,
  keyEnvironment,
  freePort,
  type ServiceProcess,
  type StartOptions,
  spawnService,
} from '../support/servers/service-process.js';
import { queuedMsOf } from '../support/servers/process-costs.js';

/** The delay in each direction. It is large, so that the load of the machine hides little. */
const delayMs = 100;
/** 5 s at 50 ms are 100 round trips. The rest is for the process itself. One view after the other took 190. */
const roundTripsMax = 60;

/** The limit at 50 ms, and what a start may take of it, so that a slower machine meets the limit too. */
const limitMs = 5_000;
const marginMs = 300;
/** DEEP_BUDGET=1 starts on more events. */
const writes = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1 ? 400 : 200;

/** Servers behind proxies, and the start of a service on them. */
async function given(t: ExecutionContext) {
  const { proxy: log, environment: ofLog } = await startProxiedLog(t);
  const { name } = await makeTestDatabase(t);
  const { proxy: documents, url } = await makeMongoDbProxy(t, name);
  const directory = givenDirectory(t);
  const environment = {
    ...keyEnvironment,
    ...ofLog,
    MONGODB_URL: url,
  };
  return { proxies: [log, documents], start: { directory, environment } };
}

interface Far {
  readonly proxies: readonly TcpProxy[];
  readonly start: Pick<StartOptions, 'directory' | 'environment'>;
  /** The delay in each direction. A new connection waits for a round trip more. */
  readonly ms: number;
}

/**
 * Starts a process, serves with it, and stops it.
 * @returns the milliseconds from its spawn to the first 200 of `/readyz`, without those in which it waited for a core
 */
async function readyAfterMs(
  t: ExecutionContext,
  { proxies, start, ms }: Far,
  serve: (service: ServiceProcess) => Promise<void> = async () => Promise.resolve(),
): Promise<number> {
  for (const proxy of proxies) [proxy.delayMs, proxy.connectMs] = [ms, 2 * ms];
  const port = await freePort();
  const began = performance.now();
  const service = await givenService(t, { ...start, port });
  const tookMs = performance.now() - began;
  const queuedMs = await queuedMsOf(service);
  for (const proxy of proxies) [proxy.delayMs, proxy.connectMs] = [0, 0];
  t.log(
    `ready after ${Math.round(tookMs)} ms at ${2 * ms} ms, ${Math.round(queuedMs)} of them without a core`,
  );
  await serve(service);
  t.is(await service.stop(), 0);
  return tookMs - queuedMs;
}

/** Makes a user, projects and some hundred events. */
async function fill({ url }: ServiceProcess): Promise<void> {
  const client = makeServiceClient(url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const projects = await Promise.all(
    Array.from({ length: 8 }, (_, n) => client.post('/api/v1/projects', { name: `p${n}` }, headers)),
  );
  const paths = projects.map((reply) => `/api/v1/projects/${textOf(reply.json(), 'id')}`);
  for (let round = 0; round < writes / paths.length; round += 1) {
    const body = JSON.stringify({ name: `round ${round}` });
    const init = { method: 'PATCH', headers: { ...headers, 'content-type': 'application/json' }, body };
    for (const { status } of await Promise.all(paths.map((path) => client.send(path, init))))
      if (status !== 200) throw new Error(`a rename was answered ${status}`);
  }
}

mongoDbSuite(test, 'The tests of a start on servers', () => {
  // Services that start at once would share the cores.
  test.serial(
    'A service is ready after few round trips to its servers, with and without views',
    async (t) => {
      const { proxies, start } = await given(t);
      const first = await readyAfterMs(t, { proxies, start, ms: delayMs });
      const again = await readyAfterMs(t, { proxies, start, ms: delayMs });
      const near = await readyAfterMs(t, { proxies, start, ms: 0 });
      for (const [what, far] of Object.entries({ first, again })) {
        const roundTrips = Math.round((far - near) / (2 * delayMs));
        t.log(`${what}: ${roundTrips} round trips, ${Math.round(near + roundTrips * 50)} ms at 50 ms`);
        t.true(roundTrips <= roundTripsMax, `${what}: ${roundTrips}`);
      }
    },
  );

  test.serial(
    'A process is ready within 5 s at 50 ms to its servers, on an empty log and on one with all views',
    async (t) => {
      // Given both servers at 50 ms, and limits that admit the writes
      const { proxies, start } = await given(t);
      const far = {
        proxies,
        start: { ...start, environment: { ...start.environment, ...withoutLimits(t) } },
        ms: 25,
      };
      // When it starts on an empty log, and again on hundreds of events with all views in place
      const empty = await readyAfterMs(t, far, fill);
      const filled = await readyAfterMs(t, far);
      // Then each start keeps the limit, and leaves the margin
      for (const [what, tookMs] of Object.entries({ empty, filled }))
        t.true(tookMs <= limitMs - marginMs, `${what}: ${Math.round(tookMs)} ms`);
    },
  );

  test.serial(
    'A start waits for a MongoDB that is away, says so, and listens when it can serve',
    async (t) => {
      const { proxies, start } = await given(t);
      for (const proxy of proxies) proxy.refusing = true;
      const service = spawnService({ ...start, port: await freePort() });
      t.teardown(() => service.kill());
      await eventually('the service says that it waits', () =>
        service.output().includes('stowage: waiting for MongoDB at 127.0.0.1:'),
      );
      await t.throwsAsync(fetch(`${service.url}/healthz`));
      for (const proxy of proxies) proxy.refusing = false;
      await eventually('the service listens', () => service.output().includes('Stowage listens on'));
      t.is((await fetch(`${service.url}/readyz`)).status, 200);
      await eventually('the service says that MongoDB answers', () =>
        /stowage: MongoDB at 127\.0\.0\.1:\d+ answers again after \d+ s\n/.test(service.output()),
      );
      t.is(await service.stop(), 0);
    },
  );
});
