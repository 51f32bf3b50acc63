import test from 'ava';
import { eventually } from '../support/eventually.js';
import { startProbedNodes, addNodes, watchProbes, wholeExtent } from '../support/servers/probed-nodes.js';
import { givenService, givenDirectory, runCli } from '../support/servers/service-process.js';

test('A served process on embedded stores probes each of 1,000 nodes about six times a minute and makes them healthy', async (t) => {
  t.timeout(300_000);
  const nodes = await startProbedNodes(250);
  t.teardown(nodes.close);
  const directory = givenDirectory(t);
  const service = await givenService(t, {
    directory,
    environment: { NODE_PROBER: `http:${nodes.port}/health`, LOG_LEVEL: 'warn' },
  });
  await addNodes(directory, wholeExtent);
  const statuses = async (): Promise<readonly string[]> => {
    const { stdout } = await runCli(directory, ['node', 'list', '--json']);
    return (JSON.parse(stdout) as { items: { status: string }[] }).items.map(({ status }) => status);
  };
  await eventually(
    'all nodes are healthy',
    async () => (await statuses()).every((status) => status === 'healthy'),
    { pollMs: 1_000, polls: 300 },
  );
  await watchProbes(t, nodes, [service], wholeExtent);
});
