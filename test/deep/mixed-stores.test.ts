import test from 'ava';
import { pluck } from '../support/given/pluck.js';
import { untilAnswered } from '../support/servers/service-ledger.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import {
  addNode,
  grantStorage,
  makeServiceClient,
  type ServiceReply,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import {
  givenService,
  givenDirectory,
  keyEnvironment,
  freePort,
  makeDataDirectory,
} from '../support/servers/service-process.js';
import { tellAccountsStory } from '../support/given/accounts-story.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';

const agentSecret = 'the-agents-secret';

test('The whole path works with the log in EventStoreDB and embedded documents, and survives an absent server', async (t) => {
  // Given a served process whose log is in EventStoreDB
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = givenDirectory(t);
  const start = {
    directory,
    port: await freePort(),
    environment: { ...keyEnvironment, EVENTSTOREDB_URL: server.url, NODE_AGENT_SECRET: agentSecret },
  };
  const service = await givenService(t, start);
  const client = makeServiceClient(service.url);

  // When a client goes the path from registration to peers
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  const createProject = (): Promise<ServiceReply> =>
    client.post('/api/v1/projects', { name: 'Film' }, owner.headers);
  const project = textOf((await createProject()).json(), 'id');
  await grantStorage(directory, project);
  const storages = `/api/v1/projects/${project}/storages`;
  const bound = await client.post(storages, storageRequest('Rushes'), owner.headers);
  t.is(bound.status, 201, bound.text);
  await addNode(directory, 'edge-1', '192.0.2.10');
  const paths = [`${storages}/${textOf(bound.json(), 'id')}`, storages, '/api/v1/auth/me'];
  const readAll = async (): Promise<readonly string[]> => {
    const peers = client.get('/api/v1/internal/peer-list', { 'x-agent-secret': agentSecret });
    const replies = await Promise.all([peers, ...paths.map((path) => client.get(path, owner.headers))]);
    t.deepEqual(pluck(replies, 'status'), [200, 200, 200, 200]);
    return replies.map(({ text }) => text);
  };
  // Then every resource is read, and its events stand in the server's log
  const before = await readAll();
  t.deepEqual(JSON.parse(before[1] ?? ''), bound.json());
  t.true(server.log.records.some(({ type }) => type === 'StorageCreated'));

  // When the server is away, then reads succeed and writes answer 503
  await server.network.refuse();
  const refused = await createProject();
  t.is(refused.status, 503, refused.text);
  t.like(refused.json(), { code: 'store_unavailable' });
  t.regex(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  t.deepEqual(await readAll(), before);

  // When the server is back, then writes succeed without a restart
  await server.network.accept();
  const reply = await untilAnswered(createProject);
  t.is(reply.status, 201, reply.text);

  // and another process reads the same
  await service.kill();
  const again = await givenService(t, start);
  t.deepEqual(await readAll(), before);
  t.is(await again.stop(), 0);
});

test('Two services over EventStoreDB and embedded documents serve the story of two accounts across restarts', async (t) => {
  const server = await startEventStoreDbServer();
  const smtp = await startSmtpServer();
  const data = await makeDataDirectory();
  const options = {
    directory: data.path,
    environment: { ...keyEnvironment, EVENTSTOREDB_URL: server.url, SMTP_URL: smtp.url },
  };
  const startBoth = async () => {
    const one = await startInProcess(options);
    const two = await startInProcess({ ...options, stores: one.services.stores });
    return {
      urls: [one.url, two.url] as const,
      close: async () => {
        await two.close();
        await one.close();
      },
    };
  };
  let both = await startBoth();
  t.teardown(async () => {
    await both.close();
    await smtp.close();
    await server.close();
    await data.remove();
  });
  await tellAccountsStory(t, {
    smtp,
    urls: () => both.urls,
    restart: async () => {
      await both.close();
      both = await startBoth();
    },
  });
});
