import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { keyEnvironment } from '../support/examples/service-keys.js';
import {
  startEventStoreDbServer,
  type EventStoreDbServer,
} from '../support/servers/eventstoredb-server/server.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';

/** A served process with its log in EventStoreDB, and a signed-in person. */
async function given(t: ExecutionContext) {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const service = await startService({
    directory: directory.path,
    port: await freePort(),
    environment: { ...keyEnvironment, EVENTSTOREDB_URL: server.url },
  });
  t.teardown(() => service.kill());
  const client = makeServiceClient(service.url);
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  return { server, service, client, owner };
}

const exchanges: readonly [
  what: string,
  exchange: (server: EventStoreDbServer) => Promise<void>,
  sentence: RegExp,
][] = [
  [
    'an empty log',
    (server) => {
      server.log.restore(0);
      return Promise.resolve();
    },
    /^stowage: this process has followed the log .* is empty/m,
  ],
  [
    'the log of another service',
    async (server) => {
      const other = await startEventStoreDbServer();
      const directory = await makeDataDirectory();
      const service = await startService({
        directory: directory.path,
        port: await freePort(),
        environment: { ...keyEnvironment, EVENTSTOREDB_URL: other.url },
      });
      await makeServiceClient(service.url).register('eve@example.org', 'Correct-Horse-8');
      await service.stop();
      server.log.become(other.log);
      await other.close();
      await directory.remove();
    },
    /^stowage: this process has followed the log .* it now holds the log/m,
  ],
];

for (const [what, exchange, sentence] of exchanges) {
  test(`The service ends with a sentence, and acknowledges nothing, when ${what} replaces its log under load`, async (t) => {
    const { server, service, client, owner } = await given(t);
    // Given clients that create projects without a pause
    const created: string[] = [];
    let ended = false;
    const create = async (): Promise<void> => {
      const reply = await client.post('/api/v1/projects', { name: 'Film' }, owner.headers);
      if (reply.status === 201) created.push(textOf(reply.json(), 'id'));
      else await wait(20);
    };
    const clients = Array.from({ length: 4 }, async () => {
      // A process that has ended refuses the connection.
      while (!ended) await create().catch(() => wait(20));
    });
    while (created.length < 20) await wait(10);
    // When the server stops, and starts again with another log
    await server.network.refuse();
    // A server that stops has handled what has reached it, and nothing of that comes into the other log.
    for (let count = -1; count !== server.log.records.length;) {
      count = server.log.records.length;
      await wait(200);
    }
    const streams = new Set(server.log.records.map(({ stream }) => stream));
    await exchange(server);
    await server.network.accept();
    // Then the process ends and says why
    t.is(await service.exited, 1);
    ended = true;
    await Promise.all(clients);
    t.regex(service.output(), sentence);
    t.deepEqual(
      created.filter((id) => !streams.has(`stowage.project-${id}`)),
      [],
    );
  });
}

test('A project whose stream was truncated is 500 for writers, is named in the log, and harms nothing else', async (t) => {
  const { server, service, client, owner } = await given(t);
  const create = async (): Promise<string> =>
    textOf((await client.post('/api/v1/projects', { name: 'Film' }, owner.headers)).json(), 'id');
  const rename = async (id: string, name: string): Promise<number> =>
    (
      await client.send(`/api/v1/projects/${id}`, {
        method: 'PATCH',
        headers: { ...owner.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      })
    ).status;
  const [damaged, whole] = [await create(), await create()];
  t.is(await rename(damaged, 'Movie'), 200);
  server.log.softDelete(`stowage.project-${damaged}`);
  t.is(await rename(damaged, 'Cinema'), 500);
  t.is(await rename(whole, 'Cinema'), 200);
  t.is((await client.get('/readyz')).status, 200);
  while (!service.output().includes('a stream is damaged')) await wait(20);
  t.true(service.output().includes(`stowage.project-${damaged}`));
});
