import test from 'ava';
import { tellAccountsStory } from '../support/accounts-story.js';
import { startEventStoreDbServer } from '../support/eventstoredb-server/server.js';
import { startInProcess } from '../support/service-in-process.js';
import { keyEnvironment } from '../support/service-keys.js';
import { makeDataDirectory } from '../support/service-process.js';
import { startSmtpServer } from '../support/smtp-server.js';

test('two services with the log in EventStoreDB and documents embedded, started again in between, tell the whole story of two accounts', async (t) => {
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
