import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { makeServiceClient, type ServiceReply } from '../support/clients/service-client.js';
import { givenService } from '../support/servers/service-process.js';
import { startProxiedServers, mongoDbSuite } from '../support/servers/store-servers.js';
import { refusedConnections } from '../support/servers/proxies.js';

const blipMs = 300;
const blips = 5;
/** Four clients at this pace send fewer requests than the limits of a user allow. */
const paceMs = 120;
/** The load goes on for this long after each blip. */
const calmMs = 2_000;

/** A served process on both servers, and clients of it that have signed in. */
async function given(t: ExecutionContext) {
  const { environment, proxies } = await startProxiedServers(t);
  const service = await givenService(t, { environment });
  const client = makeServiceClient(service.url);
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  const project = `/api/v1/projects/${await client.makeProject(owner.headers)}`;
  let renames = 0;
  const calls: Readonly<Record<string, () => Promise<ServiceReply>>> = {
    'GET a project': () => client.get(project, owner.headers),
    'PATCH a project': () => client.patch(project, { name: `Film ${(renames += 1)}` }, owner.headers),
  };
  return { calls, proxies: { EventStoreDB: proxies.log, MongoDB: proxies.documents } };
}

const [begin, end] = refusedConnections;

mongoDbSuite(test, 'The blips of servers', () => {
  for (const which of [['EventStoreDB'], ['MongoDB'], ['EventStoreDB', 'MongoDB']] as const) {
    test(`No request is 503 while connections to ${which.join(' and ')} are refused for 0.3 s`, async (t) => {
      t.timeout(300_000);
      // Given clients that read and write
      const { calls, proxies } = await given(t);
      const seen = new Map<string, number>();
      const ending = new AbortController();
      const loads = Object.entries(calls).flatMap(([name, call]) => [
        load(name, call, ending.signal, seen),
        load(name, call, ending.signal, seen),
      ]);
      await wait(calmMs);
      // When the servers refuse connections for a moment, again and again
      for (let blip = 0; blip < blips; blip += 1) {
        for (const server of which) begin(proxies[server]);
        await wait(blipMs);
        for (const server of which) end(proxies[server]);
        await wait(calmMs);
      }
      ending.abort();
      await Promise.all(loads);
      // Then every request was answered
      t.log(Object.fromEntries(seen));
      t.deepEqual([...seen.keys()].sort(), ['GET a project 200', 'PATCH a project 200']);
    });
  }
});

/** Makes a call again and again until the signal aborts, and counts its replies by status. */
async function load(
  name: string,
  call: () => Promise<ServiceReply>,
  signal: AbortSignal,
  seen: Map<string, number>,
): Promise<void> {
  while (!signal.aborted) {
    const { status } = await call();
    const key = `${name} ${status}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    await wait(paceMs);
  }
}
