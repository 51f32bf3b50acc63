import test from 'ava';
import { keyEnvironment } from '../support/examples/service-keys.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { makeTestDatabase, mongoDbUrl } from '../support/servers/mongodb-server.js';
import { startProbedNodes } from '../support/servers/probed-nodes.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import { addNodes, watchProbes } from '../support/servers/watch-probes.js';

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('Three processes probe nodes together when MONGODB_URL names a server', () => undefined);
} else {
  test('Three processes together probe each of 1,000 nodes about six times a minute, over 50 connections at most', async (t) => {
    t.timeout(300_000);
    const { url } = await makeTestDatabase(t);
    const log = await startEventStoreDbServer();
    t.teardown(() => log.close());
    const nodes = await startProbedNodes(250);
    t.teardown(nodes.close);
    const services = [];
    for (let index = 0; index < 3; index += 1) {
      const directory = await makeDataDirectory();
      t.teardown(() => directory.remove());
      const service = await startService({
        directory: directory.path,
        port: await freePort(),
        environment: {
          ...keyEnvironment,
          EVENTSTOREDB_URL: log.url,
          EVENTSTOREDB_ALLOW_INSECURE: 'true',
          MONGODB_URL: url,
          PUBLIC_URL: 'https://stowage.example.com',
          NODE_PROBER: `http:${nodes.port}/health`,
          LOG_LEVEL: 'warn',
        },
      });
      t.teardown(() => service.kill());
      services.push(service);
    }
    await addNodes(services[0]?.directory ?? '');
    await watchProbes(t, nodes, services);
  });
}
