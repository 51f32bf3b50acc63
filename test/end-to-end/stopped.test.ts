import test from 'ava';
import { allViews, projections } from '../../projections/index.js';
import type { JsonObject, NewEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { quarantinedItems } from '../../src/event-sourcing/feeding/quarantine.js';
import { eventually } from '../support/eventually.js';
import { openStores } from '../support/servers/embedded-directory.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { givenInProcess, makeKeptLog, startInProcess } from '../support/servers/service-in-process.js';
import {
  keyEnvironment,
  freePort,
  runCli,
  givenDirectory,
  givenService,
} from '../support/servers/service-process.js';
import { metadataOf } from '../support/examples/metadata.js';

const nodeId = '018f0000-0000-7000-8000-00000000000a';
const sentence = `event type NodeTeleported (node-${nodeId} at revision 0) is unknown to this version; run the version that wrote it, or a newer one`;

/** An event that only a later version knows. */
const unknown: NewEvent = {
  id: '018f0000-0000-5000-8000-000000000001',
  type: 'NodeTeleported',
  data: { to: 'canary-payload' },
  metadata: metadataOf(nodeId),
};

test('An event of an unknown type quarantines its stream, and commands refuse the stream without showing its data', async (t) => {
  // Given a service whose views are live
  const { lines, log } = makeKeptLog('trace');
  const service = await givenInProcess(t, { log });
  const { eventStore } = service.services;
  const client = makeServiceClient(service.url);
  // When such an event is appended
  await eventStore.append(`node-${nodeId}`, 'no-stream', [unknown]);
  // Then its view quarantines the stream and reports the type and the position, without the data
  const { readModelStore, generations } = service.services;
  const peerNodes = projections.find(({ name }) => name === 'peer_nodes');
  if (peerNodes === undefined) return t.fail();
  const quarantined = () => quarantinedItems(readModelStore, generations.liveCollection(peerNodes));
  await eventually('the stream is quarantined', async () => (await quarantined()).length > 0);
  t.deepEqual(await quarantined(), [{ id: nodeId, reason: sentence }]);
  // and the others go on
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  const projectId = await client.makeProject(owner.headers);
  t.is((await client.get(`/api/v1/projects/${projectId}`, owner.headers)).status, 200);
  const head = await eventStore.head();
  const atHead = (): number =>
    service.projections.statuses().filter(({ position }) => position === head).length;
  await eventually('each view reaches the end', () => atHead() === allViews.length);

  // When such an event is in a project's stream, and a user changes the project
  t.true((await service.metrics()).includes('stowage_http_failures_total{cause="undecodable_event"} 0'));
  await eventStore.append(`project-${projectId}`, 0n, [unknown]);
  const reply = await client.patch(`/api/v1/projects/${projectId}`, { name: 'Movie' }, owner.headers);
  // Then the caller receives no detail, and the log names the position and not the data
  t.is(reply.status, 500);
  t.deepEqual(reply.json(), { code: 'internal_error', message: 'the service failed to answer' });
  const line = lines.find((one) => one.includes('request failed')) ?? '';
  t.regex(line, /"level":50,.*"name":"UndecodableEvent"/);
  t.true(line.includes(`event type NodeTeleported (project-${projectId} at revision 1) is unknown`), line);
  t.false(lines.join('').includes('canary-payload'));
  t.true((await service.metrics()).includes('stowage_http_failures_total{cause="undecodable_event"} 1'));
  // and no event was appended.
  t.is((await eventStore.read(`project-${projectId}`)).length, 2);
});

test('A process that starts on an event of an unknown type is ready, and names the stream', async (t) => {
  // Given a log with such an event
  const directory = givenDirectory(t);
  await (await startInProcess({ directory, environment: keyEnvironment })).close();
  const stores = await openStores(directory);
  await stores.eventStore.append(`node-${nodeId}`, 'no-stream', [unknown]);
  await stores.close();
  // When a process starts on it
  const metricsPort = await freePort();
  const environment = { ...keyEnvironment, METRICS_PORT: String(metricsPort) };
  const service = await givenService(t, { directory, environment });
  // Then it becomes ready, and reports the stream
  const client = makeServiceClient(service.url);
  t.is((await client.get('/readyz')).status, 200);
  t.is((await client.get('/api/v1/plans')).status, 200);
  await eventually('the log names the stream', () =>
    service.output().includes('a view has quarantined a stream'),
  );
  t.true(service.output().includes(sentence), service.output());
  t.false(service.output().includes('canary-payload'));
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const quarantined = [...metrics.matchAll(/^stowage_projection_quarantined\{collection="(\w+)@.*"\} 1$/gm)];
  t.deepEqual(
    quarantined.map(([, view]) => view),
    ['peer_nodes'],
  );
  t.is(await service.stop(), 0);
});

const stream = `logincode-${'ab'.repeat(32)}`;

test('An event that a reaction cannot decode shows in the log, the metrics and the list, and the reaction goes on', async (t) => {
  // Given a log in which an event does not fit its schema
  const directory = givenDirectory(t);
  await (await startInProcess({ directory, environment: keyEnvironment })).close();
  const stores = await openStores(directory);
  const id = '018f0000-0000-5000-8000-000000000001';
  await stores.eventStore.append(stream, 'no-stream', [
    { id, type: 'LoginCodeIssued', data: { email: 'canary-payload' }, metadata: metadataOf(id) },
  ]);
  await stores.close();
  // When a process that mails starts on it
  const metricsPort = await freePort();
  const service = await givenService(t, {
    directory,
    environment: {
      ...keyEnvironment,
      METRICS_PORT: String(metricsPort),
      SMTP_URL: 'smtp://user:canary-password@127.0.0.1:1',
    },
  });
  // Then the metrics count the event, and the reaction runs
  const metric = async (name: string): Promise<string | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return text
      .split('\n')
      .find((line) => line.startsWith(`${name}{reaction="mail-login-codes"} `))
      ?.slice(-1);
  };
  await eventually(
    'the metrics count the event',
    async () => (await metric('stowage_reaction_quarantined')) === '1',
  );
  t.is(await metric('stowage_reaction_stopped'), '0');
  t.is(await metric('stowage_reaction_open_events'), '0');
  t.is((await fetch(`${service.url}/readyz`)).status, 200);
  // and the log and the list name the event without its data
  // The service writes its log in the background.
  await eventually('the log names the event', () =>
    service.output().includes('a reaction has quarantined an event'),
  );
  const reason = `LoginCodeIssued (${stream} at revision 0) does not fit its schema`;
  t.true(service.output().includes(reason), service.output());
  const listed = await runCli(directory, ['projection', 'list']);
  t.is(listed.code, 0, listed.stderr);
  t.regex(listed.stdout, /reaction: +mail-login-codes/);
  t.true(listed.stdout.includes(reason), listed.stdout);
  const { stdout } = await runCli(directory, ['projection', 'list', '--json']);
  const { reactions } = JSON.parse(stdout) as { readonly reactions: readonly JsonObject[] };
  t.like(reactions, [{ name: 'mail-login-codes', quarantined: [{ id, stream, revision: '0' }] }]);
  t.notRegex(`${service.output()}${listed.stdout}${stdout}`, /canary/);
  t.is(await service.stop(), 0);
});
