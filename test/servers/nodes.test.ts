/* Both tests mostly wait, so they are one file and run side by side. */
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { addNode, textOf } from '../support/clients/service-client.js';
import { givenService, givenDirectory, keyEnvironment } from '../support/servers/service-process.js';
import { makeClockOfProcess } from '../support/servers/clock-of-process.js';
import { startSuiteLog, makeTestDatabase, mongoDbSuite } from '../support/servers/store-servers.js';
import { startProbedNodes, addNodes, watchProbes, wholeExtent } from '../support/servers/probed-nodes.js';

const hourMs = 3_600_000;
const secret = 'let-the-agents-in';
const headers = { 'x-agent-secret': secret, 'content-type': 'application/json' };

/** DEEP_BUDGET=1 has 1,000 nodes for a minute. Fewer nodes answer later, so that the prober holds as many connections. */
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const extent = isWhole ? wholeExtent : { nodes: 400, intervals: 3 };
const answerMs = (250 * wholeExtent.nodes) / extent.nodes;

mongoDbSuite(test, 'Processes find silent nodes and probe nodes together', () => {
  test('Two processes whose clocks jump by an hour find a silent node, and no other', async (t) => {
    t.timeout(240_000);
    // Given two processes on the same stores, and two healthy nodes
    const processes = await given(t);
    const [first, second] = processes;
    const silent = textOf(await addNode(first.service.directory, 'edge-1', '192.0.2.1'), 'id');
    const steady = textOf(await addNode(first.service.directory, 'edge-2', '192.0.2.2'), 'id');
    const report = async ({ service }: Started, nodeId: string): Promise<void> => {
      const url = `${service.url}/api/v1/internal/nodes/${nodeId}/checks`;
      const reply = await fetch(url, { method: 'POST', headers, body: '{"ok":true}' });
      t.is(reply.status, 204, await reply.text());
    };
    for (const nodeId of [silent, steady, silent, steady]) await report(second, nodeId);
    const lastCheckMs = performance.now();
    // When one of them is silent, and the clocks of both jump forward and back
    const jumps = [
      [hourMs, -hourMs],
      [-hourMs, hourMs],
      [0, 0],
    ] as const;
    let status = 'healthy';
    for (let look = 0; status !== 'unknown' && performance.now() - lastCheckMs < 120_000; look += 1) {
      const offsets = jumps[Math.floor(look / 10) % jumps.length] ?? [0, 0];
      await Promise.all(processes.map(({ clock }, index) => clock.set(offsets[index] ?? 0)));
      await report(processes[look % 2] ?? first, steady);
      await wait(1_000);
      const statuses = await statusesOf(t, processes[look % 2] ?? first);
      t.is(statuses.get(steady), 'healthy');
      status = statuses.get(silent) ?? 'gone';
    }
    // Then it is unknown after 60 s to 75 s, or some seconds later on a loaded machine
    const afterMs = Math.round(performance.now() - lastCheckMs);
    t.log(`unknown after ${afterMs} ms`);
    t.is(status, 'unknown');
    t.true(afterMs > 58_000 && afterMs < 90_000, `after ${afterMs} ms`);
    for (const { service } of processes) t.is(await service.stop(), 0);
  });

  test(`Three processes together probe each of ${extent.nodes} nodes about six times a minute, over 50 connections at most`, async (t) => {
    t.timeout(300_000);
    const { url } = await makeTestDatabase(t);
    const log = await startSuiteLog(t);
    const nodes = await startProbedNodes(answerMs);
    t.teardown(nodes.close);
    const services = [];
    for (let index = 0; index < 3; index += 1) {
      const service = await givenService(t, {
        environment: {
          ...keyEnvironment,
          ...log.environment,
          MONGODB_URL: url,
          PUBLIC_URL: 'https://stowage.example.com',
          NODE_PROBER: `http:${nodes.port}/health`,
          LOG_LEVEL: 'warn',
        },
      });
      services.push(service);
    }
    await addNodes(services[0]?.directory ?? '', extent);
    await watchProbes(t, nodes, services, extent);
  });
});

type Started = Awaited<ReturnType<typeof start>>;

async function given(t: ExecutionContext): Promise<readonly [Started, Started]> {
  const { url } = await makeTestDatabase(t);
  const log = await startSuiteLog(t);
  const environment = {
    ...keyEnvironment,
    ...log.environment,
    MONGODB_URL: url,
    PUBLIC_URL: 'https://stowage.example.com',
    NODE_AGENT_SECRET: secret,
  };
  return [await start(t, environment), await start(t, environment)];
}

async function start(t: ExecutionContext, environment: Readonly<Record<string, string>>) {
  const directory = givenDirectory(t);
  const clock = makeClockOfProcess(directory);
  const service = await givenService(t, {
    directory,
    environment: { ...environment, ...clock.environment },
  });
  return { service, clock };
}

async function statusesOf(t: ExecutionContext, { service }: Started): Promise<ReadonlyMap<string, string>> {
  const reply = await fetch(`${service.url}/api/v1/internal/peer-list`, { headers });
  t.is(reply.status, 200);
  const { items } = (await reply.json()) as { items: { id: string; status: string }[] };
  return new Map(items.map(({ id, status }) => [id, status]));
}
