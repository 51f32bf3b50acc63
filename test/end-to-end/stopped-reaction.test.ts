import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { openStores } from '../support/embedded-directory.js';
import { keyEnvironment } from '../support/service-keys.js';
import { freePort, makeDataDirectory, startService } from '../support/service-process.js';

const stream = `logincode-${'ab'.repeat(32)}`;

test('a reaction that an event stops shows in the log and in the metrics; the service goes on', async (t) => {
  // Given a log in which an event does not fit its schema
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const stores = await openStores(directory.path);
  const id = '018f0000-0000-5000-8000-000000000001';
  const metadata = { command_id: id, causation_id: id, correlation_id: id, actor: 'anonymous', time: 'then' };
  await stores.eventStore.append(stream, 'no-stream', [
    { id, type: 'LoginCodeIssued', data: { email: 'canary-payload' }, metadata },
  ]);
  await stores.close();
  // When a process that mails starts on it
  const metricsPort = await freePort();
  const service = await startService({
    directory: directory.path,
    port: await freePort(),
    environment: {
      ...keyEnvironment,
      METRICS_PORT: String(metricsPort),
      SMTP_URL: 'smtp://user:canary-password@127.0.0.1:1',
    },
  });
  t.teardown(() => service.kill());
  // Then it becomes ready, and says which reaction has stopped, and where
  const metric = async (name: string, reaction: string): Promise<string | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return text.split('\n').find((line) => line.startsWith(`${name}{reaction="${reaction}"}`));
  };
  const stopped = 'stowage_reaction_stopped';
  while (!(await metric(stopped, 'mail-login-codes'))?.endsWith(' 1')) await wait(20);
  t.is(await metric(stopped, 'mail-invitations'), `${stopped}{reaction="mail-invitations"} 0`);
  t.is(
    await metric('stowage_reaction_open_events', 'mail-login-codes'),
    'stowage_reaction_open_events{reaction="mail-login-codes"} 0',
  );
  // The log is written in the background.
  while (!service.output().includes('a reaction stopped')) await wait(20);
  t.regex(
    service.output(),
    new RegExp(`LoginCodeIssued \\(${stream} at revision 0\\) does not fit its schema`),
  );
  t.notRegex(service.output(), /canary/);
  t.is((await fetch(`${service.url}/readyz`)).status, 200);
  t.is(await service.stop(), 0);
});
