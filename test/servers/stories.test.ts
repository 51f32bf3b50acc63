import test, { type ExecutionContext } from 'ava';
import { tellAccountsStory } from '../support/given/accounts-story.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { tellMediaStory } from '../support/given/media-story.js';
import { startSuiteLog } from '../support/servers/suite-log.js';
import { makeTestDatabase, mongoDbUrl } from '../support/servers/mongodb-server.js';
import { grantStorage } from '../support/clients/service-client.js';
import { keyEnvironment } from '../support/examples/service-keys.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';

/** Starts a log and a database. */
async function givenServers(t: ExecutionContext) {
  const { url: mongoDb } = await makeTestDatabase(t);
  const smtp = await startSmtpServer();
  t.teardown(() => smtp.close());
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
    const directory = await makeDataDirectory();
    t.teardown(() => directory.remove());
    return { directory: directory.path, port: await freePort(), environment };
  };
  return { smtp, starts: [await start(), await start()] as const };
}

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('The stories on EventStoreDB and MongoDB run when MONGODB_URL names a server', () => undefined);
} else {
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
}
