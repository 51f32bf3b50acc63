import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { pino } from 'pino';
import { projections } from '../../projections/index.js';
import type { NewEvent } from '../../src/event-sourcing/domain-event.js';
import { openStores } from '../support/embedded-directory.js';
import { makeServiceClient, textOf } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { keyEnvironment } from '../support/service-keys.js';
import { freePort, makeDataDirectory, spawnService, startService } from '../support/service-process.js';

const nodeId = '018f0000-0000-7000-8000-00000000000a';
const sentence = `event type NodeTeleported (node-${nodeId} at revision 0) is unknown to this version; run the version that wrote it, or a newer one`;

/** An event that only a later version knows. */
const unknown: NewEvent = {
  id: '018f0000-0000-5000-8000-000000000001',
  type: 'NodeTeleported',
  data: { to: 'canary-payload' },
  metadata: {
    command_id: nodeId,
    causation_id: nodeId,
    correlation_id: nodeId,
    actor: 'operator',
    time: '2026-01-01T00:00:00.000Z',
  },
};

test('an event of an unknown type stops its view alone, and says where it stands; a command that meets one is refused loudly, without what is in it', async (t) => {
  // Given a service whose views are live
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  let said = '';
  const logger = pino({ level: 'trace' }, { write: (line) => void (said += line) });
  const log = { logger, flush: () => Promise.resolve() };
  const service = await startInProcess({ directory: directory.path, log });
  t.teardown(() => service.close());
  const { eventStore } = service.services;
  const client = makeServiceClient(service.url);
  // When such an event is appended
  await eventStore.append(`node-${nodeId}`, 'no-stream', [unknown]);
  // Then that view stops, and says so with type and place and without what is in it
  const stopped = (): readonly (string | null)[] =>
    service.projections
      .statuses()
      .filter(({ state }) => state === 'stopped')
      .map(({ reason }) => reason);
  await until(() => stopped().length > 0);
  t.deepEqual(stopped(), [sentence]);
  // and the others go on
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  const made = await client.post('/api/v1/projects', { name: 'Film' }, owner.headers);
  const projectId = textOf(made.json(), 'id');
  t.is((await client.get(`/api/v1/projects/${projectId}`, owner.headers)).status, 200);
  const head = await eventStore.head();
  const atHead = (): number =>
    service.projections.statuses().filter(({ position }) => position === head).length;
  await until(() => atHead() === projections.length - 1);
  t.is(stopped().length, 1);

  // When such an event is in a project's stream, and somebody changes the project
  t.true((await service.metrics()).includes('stowage_http_failures_total{cause="undecodable_event"} 0'));
  await eventStore.append(`project-${projectId}`, 0n, [unknown]);
  const reply = await client.send(`/api/v1/projects/${projectId}`, {
    method: 'PATCH',
    headers: { ...owner.headers, 'content-type': 'application/json' },
    body: '{"name":"Movie"}',
  });
  // Then the caller hears nothing of the inside, and whoever runs the service hears where, and not what
  t.is(reply.status, 500);
  t.deepEqual(reply.json(), { code: 'internal_error', message: 'the service failed to answer' });
  const line = said.split('\n').find((one) => one.includes('request failed')) ?? '';
  t.regex(line, /"level":50,.*"name":"UndecodableEvent"/);
  t.true(line.includes(`event type NodeTeleported (project-${projectId} at revision 1) is unknown`), line);
  t.false(said.includes('canary-payload'));
  t.true((await service.metrics()).includes('stowage_http_failures_total{cause="undecodable_event"} 1'));
  // and nothing has been appended.
  t.is((await eventStore.read(`project-${projectId}`)).length, 2);
});

test('a process that starts on such an event stays unready, and its log says why', async (t) => {
  // Given a log with such an event
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const stores = await openStores(directory.path);
  await stores.eventStore.append(`node-${nodeId}`, 'no-stream', [unknown]);
  await stores.close();
  // When a process starts on it (with keys that are given, for none are made beside data)
  const metricsPort = await freePort();
  const environment = { ...keyEnvironment, METRICS_PORT: String(metricsPort) };
  const start = { directory: directory.path, port: await freePort(), environment };
  const service = spawnService(start);
  t.teardown(() => service.kill());
  // Then it does not become ready, and says what to do
  await until(() => service.output().includes('"not ready"'));
  t.regex(
    service.output(),
    /^stowage: not ready, for the view peer_nodes@\S+ has stopped: (?<sentence>.*)$/m,
  );
  t.true(service.output().includes(`has stopped: ${sentence}\n`), service.output());
  t.false(service.output().includes('canary-payload'));
  const client = makeServiceClient(service.url);
  t.is((await client.get('/readyz')).status, 503);
  t.is((await client.get('/healthz')).status, 200);
  t.is((await client.get('/api/v1/plans')).status, 503);
  // Platforms' callbacks need no view, the other views are there for the version that follows, and metrics tell.
  t.is((await client.get('/api/v1/payment/webhooks/standard')).status, 200);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const stopped = [...metrics.matchAll(/^stowage_projection_stopped\{collection="(\w+)@.*"\} 1$/gm)];
  t.deepEqual(
    stopped.map(([, view]) => view),
    ['peer_nodes'],
  );
  t.is(await service.stop(), 0);
});

/** Polls; the test's own time limit ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(10);
}

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
