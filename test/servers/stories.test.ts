import test, { type ExecutionContext } from 'ava';
import { tellAccountsStory } from '../support/given/accounts-story.js';
import { givenFakeStorage, type FakeStorage } from '../support/fakes/fake-storage.js';
import { startSuiteLog, makeTestDatabase, mongoDbSuite } from '../support/servers/store-servers.js';
import {
  grantStorage,
  asObject,
  makeServiceClient,
  type ServiceReply,
  textOf,
} from '../support/clients/service-client.js';
import {
  givenDirectory,
  keyEnvironment,
  freePort,
  startService,
} from '../support/servers/service-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';
import type { JsonObject, JsonValue } from '../../src/event-sourcing/ports/domain-event.js';
import { eventually } from '../support/eventually.js';

/** Starts a log and a database. */
async function givenServers(t: ExecutionContext) {
  const { url: mongoDb } = await makeTestDatabase(t);
  const smtp = await givenSmtpServer(t);
  const log = await startSuiteLog(t);
  const environment = {
    ...keyEnvironment,
    ...log.environment,
    MONGODB_URL: mongoDb,
    SMTP_URL: smtp.url,
    STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
    // The issuer of tokens, which both processes share.
    PUBLIC_URL: 'https://stowage.example.com',
  };
  const start = async () => {
    const directory = givenDirectory(t);
    return { directory, port: await freePort(), environment };
  };
  return { smtp, starts: [await start(), await start()] as const };
}

mongoDbSuite(test, 'The stories on EventStoreDB and MongoDB', () => {
  test('Two processes on EventStoreDB and MongoDB complete the story of two accounts across a kill and a restart', async (t) => {
    const { smtp, starts } = await givenServers(t);
    const startBoth = async () => {
      const services = await Promise.all([startService(starts[0]), startService(starts[1])] as const);
      for (const service of services) t.teardown(() => service.kill());
      return services;
    };
    let services = await startBoth();
    await tellAccountsStory(t, {
      smtp,
      urls: () => [services[0].url, services[1].url],
      restart: async () => {
        await Promise.all(services.map((service) => service.kill()));
        services = await startBoth();
      },
    });
  });

  test('Two processes on EventStoreDB and MongoDB complete the story of a storage, its asset and a share', async (t) => {
    const { starts } = await givenServers(t);
    const services = await Promise.all([startService(starts[0]), startService(starts[1])] as const);
    for (const service of services) t.teardown(() => service.kill());
    await tellMediaStory(t, {
      urls: [services[0].url, services[1].url],
      storage: await givenFakeStorage(t),
      grant: (projectId) => grantStorage(starts[0].directory, projectId),
    });
  });
});

/**
 * Runs the steps from binding a bucket to an opened share, in turn at two processes over the same stores. Each must see
 * the changes that the other has acknowledged.
 * @param options.grant entitles a project to storages, as an operator does
 */
async function tellMediaStory(
  t: ExecutionContext,
  {
    urls,
    storage,
    grant,
  }: {
    readonly urls: readonly [string, string];
    readonly storage: FakeStorage;
    readonly grant: (projectId: string) => Promise<void>;
  },
): Promise<void> {
  const [first, second] = [makeServiceClient(urls[0]), makeServiceClient(urls[1])];
  const { headers } = await first.register('ada@example.org', 'Correct-Horse-7');
  const send = async (
    client: typeof first,
    [method, path, body]: readonly [method: string, path: string, body?: JsonValue],
    expected: number,
  ): Promise<ServiceReply> => {
    const reply = await client.send(path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    t.is(reply.status, expected, `${method} ${path}: ${reply.text}`);
    return reply;
  };
  const projectId = textOf(
    (await send(second, ['POST', '/api/v1/projects', { name: 'Film' }], 201)).json(),
    'id',
  );
  const project = `/api/v1/projects/${projectId}`;
  await grant(projectId);

  // A storage that is bound through one process is tested by either, and works in both
  const binding = {
    ...{ name: 'Media', provider: 's3', bucket: 'media', endpoint: `http://127.0.0.1:${storage.port}` },
    credentials: { access_key: 'a key', secret_key: 'a secret' },
  };
  const storageId = textOf((await send(first, ['POST', `${project}/storages`, binding], 201)).json(), 'id');
  await send(second, ['POST', `${project}/storages/${storageId}/test`], 202);
  await eventually('the storage is tested', async () => {
    const { status, is_default } = (await first.get(`${project}/storages/${storageId}`, headers)).json();
    return status === 'active' && is_default === true;
  });

  // An asset of the default storage is shared, and the share opens exactly as often as allowed, at either process
  const asset = { name: 'Clip', object_key: 'clip.mp4', media_type: 'video/mp4', size: 4 };
  const assetId = textOf((await send(second, ['POST', `${project}/assets`, asset], 201)).json(), 'id');
  const put = await fetch(`http://127.0.0.1:${storage.port}/media/clip.mp4`, {
    method: 'PUT',
    headers: { 'content-type': 'video/mp4' },
    body: 'clip',
  });
  t.is(put.status, 200);
  const uploaded = await send(first, ['POST', `${project}/assets/${assetId}/uploaded`, {}], 200);
  t.is(textOf(uploaded.json(), 'upload'), 'complete', uploaded.text);
  const terms = { asset_id: assetId, password: 'open sesame', max_uses: 20 };
  const share = (await send(first, ['POST', `${project}/shares`, terms], 201)).json();
  const verify = `/api/v1/shares/${textOf(share, 'token')}/verify`;
  await send(second, ['POST', verify, { password: 'wrong' }], 401);
  const visits = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      (index % 2 === 0 ? first : second).post(verify, { password: terms.password }),
    ),
  );
  const answered = (expected: number): number => visits.filter(({ status }) => status === expected).length;
  t.deepEqual([answered(200), answered(404)], [20, 30], visits.map(({ status }) => status).join(' '));
  const opened = visits.find(({ status }) => status === 200);
  const [link] = asObject(opened?.json()['data'])['media'] as JsonObject[];
  t.true(textOf(link ?? {}, 'url').startsWith(`http://127.0.0.1:${storage.port}/media/clip.mp4?`));
  await eventually('the accesses are listed', async () => {
    const accesses = await second.get(`${project}/shares/${textOf(share, 'id')}/accesses`, headers);
    return (accesses.json()['items'] as JsonObject[]).length === 20;
  });

  // A storage with an asset cannot be deleted; without the asset it disappears in both processes at once
  await send(first, ['DELETE', `${project}/storages/${storageId}`], 409);
  await send(second, ['DELETE', `${project}/assets/${assetId}`], 204);
  await send(first, ['DELETE', `${project}/storages/${storageId}`], 204);
  await send(second, ['GET', `${project}/storages/${storageId}`], 404);
}
