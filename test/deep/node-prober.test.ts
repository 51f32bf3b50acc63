import test from 'ava';
import { eventually } from '../support/eventually.js';
import { startProbedNodes } from '../support/servers/probed-nodes.js';
import { freePort, makeDataDirectory, runCli, startService } from '../support/servers/service-process.js';
import { addNodes, watchProbes, wholeExtent } from '../support/servers/watch-probes.js';

test('A served process on embedded stores probes each of 1,000 nodes about six times a minute and makes them healthy', async (t) => {
  t.timeout(300_000);
  const nodes = await startProbedNodes(250);
  t.teardown(nodes.close);
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const service = await startService({
    directory: directory.path,
    port: await freePort(),
    environment: { NODE_PROBER: `http:${nodes.port}/health`, LOG_LEVEL: 'warn' },
  });
  t.teardown(() => service.kill());
  await addNodes(directory.path, wholeExtent);
  const statuses = async (): Promise<readonly string[]> => {
    const { stdout } = await runCli(directory.path, ['node', 'list', '--json']);
    return (JSON.parse(stdout) as { items: { status: string }[] }).items.map(({ status }) => status);
  };
  await eventually(
    'all nodes are healthy',
    async () => (await statuses()).every((status) => status === 'healthy'),
    { pollMs: 1_000, polls: 300 },
  );
  await watchProbes(t, nodes, [service], wholeExtent);
});
