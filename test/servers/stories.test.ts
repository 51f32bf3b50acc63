import test, { type ExecutionContext } from 'ava';
import { tellAccountsStory } from '../support/accounts-story.js';
import { givenFakeStorage } from '../support/fake-storage.js';
import { tellMediaStory } from '../support/media-story.js';
import { startEventStoreDbServer } from '../support/eventstoredb-server/server.js';
import { makeTestDatabase, mongoDbUrl } from '../support/mongodb-server.js';
import { grantStorage } from '../support/service-client.js';
import { keyEnvironment } from '../support/service-keys.js';
import { freePort, makeDataDirectory, startService } from '../support/service-process.js';
import { startSmtpServer } from '../support/smtp-server.js';

/** A server's log, and documents in MongoDB: EVENTSTOREDB_URL where it is set, else the server in this process. */
async function givenServers(t: ExecutionContext) {
  const { url: mongoDb } = await makeTestDatabase(t);
  const smtp = await startSmtpServer();
  t.teardown(() => smtp.close());
  const log = process.env['EVENTSTOREDB_URL'] || (await startOwnLog(t));
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: log,
    EVENTSTOREDB_ALLOW_INSECURE: 'true',
    MONGODB_URL: mongoDb,
    SMTP_URL: smtp.url,
    STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
    // The issuer of tokens, which processes have in common.
    PUBLIC_URL: 'https://stowage.example.com',
    // The log may be one that other runs have written to.
    STREAM_PREFIX: `test.${Date.now()}.`,
  };
  const start = async () => {
    const directory = await makeDataDirectory();
    t.teardown(() => directory.remove());
    return { directory: directory.path, port: await freePort(), environment };
  };
  return { smtp, starts: [await start(), await start()] as const };
}

async function startOwnLog(t: ExecutionContext): Promise<string> {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  return server.url;
}

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('stories on EventStoreDB and MongoDB: set MONGODB_URL to run them against a server', () =>
    undefined);
} else {
  test('two processes on EventStoreDB and MongoDB, killed and started again in between, tell the whole story of two accounts', async (t) => {
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

  test('two processes on EventStoreDB and MongoDB tell the story of a storage, its asset and a share', async (t) => {
    const { starts } = await givenServers(t);
    const services = await Promise.all([startService(starts[0]), startService(starts[1])] as const);
    for (const service of services) t.teardown(() => service.kill());
    await tellMediaStory(t, {
      urls: [services[0].url, services[1].url],
      storage: await givenFakeStorage(t),
      grant: (projectId) => grantStorage(starts[0].directory, projectId),
    });
  });
}
