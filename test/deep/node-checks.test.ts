import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { addNode, asObject, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { givenService, givenDirectory } from '../support/servers/service-process.js';
import { runNodeChecks, compareWithTable } from '../support/simulation/node-checks.js';

const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const seed = Number(process.env['DEEP_SEED'] ?? '1');

test('The rule agrees with its table on a million random sequences', (t) => {
  compareWithTable(t, 1_000_000 * budget, seed);
});

for (const killed of [0, 0.1]) {
  test(`20,000 checks of 50 nodes from four processes, ${killed} killed, end in the fold of their results`, async (t) => {
    const checks = 20_000 * budget;
    const events = await runNodeChecks(t, { checks, nodes: 50, seed, killed });
    t.true(events > checks / 5, `${events} events`);
  });
}

test('A served process finds a silent node within 75 s, and not before 60 s', async (t) => {
  const directory = givenDirectory(t);
  const service = await givenService(t, {
    directory,
    environment: { NODE_AGENT_SECRET: 'the-secret-of-the-agents' },
  });
  const node = textOf(await addNode(directory, 'edge-1', '192.0.2.1'), 'id');
  const client = makeServiceClient(`${service.url}/api/v1/internal`);
  const agent = { 'x-agent-secret': 'the-secret-of-the-agents' };
  const status = async (): Promise<string> => {
    const { items } = (await client.get('/peer-list', agent)).json();
    return textOf(asObject(Array.isArray(items) ? items[0] : null), 'status');
  };
  for (const ok of [true, true]) {
    t.is((await client.post(`/nodes/${node}/checks`, { ok }, agent)).status, 204);
  }
  t.is(await status(), 'healthy');
  const checkedMs = performance.now();
  while ((await status()) === 'healthy') {
    t.true(performance.now() - checkedMs < 75_000, 'the node is still healthy after 75 s');
    await wait(250);
  }
  t.is(await status(), 'unknown');
  t.true(performance.now() - checkedMs > 60_000, 'the node is unknown too soon');
});
