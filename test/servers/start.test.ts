import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { keyEnvironment } from '../support/examples/service-keys.js';
import { makeMongoDbProxy, makeTestDatabase, mongoDbUrl } from '../support/servers/mongodb-server.js';
import {
  freePort,
  makeDataDirectory,
  spawnService,
  startService,
} from '../support/servers/service-process.js';
import { makeTcpProxy } from '../support/servers/tcp-proxy.js';

/** The delay in each direction. It is large, so that the load of the machine hides little. */
const delayMs = 100;
/** 5 s at 50 ms are 100 round trips. The rest is for the process itself. One view after the other took 190. */
const roundTripsMax = 80;

/** Servers behind proxies, and the start of a service on them. */
async function given(t: ExecutionContext) {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const log = await makeTcpProxy({ host: '127.0.0.1', port: server.port });
  t.teardown(log.close);
  const { name } = await makeTestDatabase(t);
  const { proxy: documents, url } = await makeMongoDbProxy(t, name);
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: `esdb://127.0.0.1:${log.port}?tls=false`,
    MONGODB_URL: url,
  };
  return { proxies: [log, documents], start: { directory: directory.path, environment } };
}

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('The tests of a start on servers run when MONGODB_URL names a server', () => undefined);
} else {
  test('A service is ready after few round trips to its servers, with and without views', async (t) => {
    const { proxies, start } = await given(t);
    const readyAfterMs = async (ms: number): Promise<number> => {
      for (const proxy of proxies) proxy.delayMs = ms;
      const began = performance.now();
      const service = await startService({ ...start, port: await freePort() });
      const tookMs = performance.now() - began;
      for (const proxy of proxies) proxy.delayMs = 0;
      t.is(await service.stop(), 0);
      return tookMs;
    };
    const first = await readyAfterMs(delayMs);
    const again = await readyAfterMs(delayMs);
    const near = await readyAfterMs(0);
    for (const [what, far] of Object.entries({ first, again })) {
      const roundTrips = Math.round((far - near) / (2 * delayMs));
      t.log(`${what}: ${roundTrips} round trips, ${Math.round(near + roundTrips * 50)} ms at 50 ms`);
      t.true(roundTrips <= roundTripsMax, `${what}: ${roundTrips}`);
    }
  });

  test('A start waits for a MongoDB that is away, says so, and listens when it can serve', async (t) => {
    const { proxies, start } = await given(t);
    for (const proxy of proxies) proxy.refusing = true;
    const service = spawnService({ ...start, port: await freePort() });
    t.teardown(() => service.kill());
    while (!service.output().includes('stowage: waiting for MongoDB at 127.0.0.1:')) await wait(20);
    await t.throwsAsync(fetch(`${service.url}/healthz`));
    for (const proxy of proxies) proxy.refusing = false;
    while (!service.output().includes('Stowage listens on')) await wait(20);
    t.is((await fetch(`${service.url}/readyz`)).status, 200);
    while (!/stowage: MongoDB at 127\.0\.0\.1:\d+ answers again after \d+ s\n/.test(service.output()))
      await wait(20);
    t.is(await service.stop(), 0);
  });
}
