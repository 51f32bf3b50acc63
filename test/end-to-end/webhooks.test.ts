import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../support/eventually.js';
import { findCanaries } from '../support/examples/canaries.js';
import { startWebhookReceiver, webhookSecret } from '../support/given/given-webhooks.js';
import { givenAsset, givenShare, nextContext } from '../support/given/given-share.js';
import { canariesOf, startCanaryService } from '../support/servers/canary-service.js';
import { givenInProcess, startInProcess } from '../support/servers/service-in-process.js';
import { runCli, givenDirectory } from '../support/servers/service-process.js';

test('An endpoint gets verified events of orders, shares and storages, without secrets and personal data', async (t) => {
  // Given a service with an endpoint on this machine
  const receiver = await startWebhookReceiver(t);
  const { service, client, watched, sightings } = await startCanaryService(t, {
    WEBHOOK_URLS: `${receiver.url}?token=canary-endpoint-token ${webhookSecret} *`,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    PAYMENT_STANDARD_WEBHOOK_SECRETS: webhookSecret,
  });
  const [endpoint] = service.services.webhooks.endpoints;
  const { records, admin } = service.services.webhooks;
  await eventually(
    'record of the endpoint',
    async () => (await records.endpoint(endpoint?.id ?? '')) !== null,
  );
  // When a person orders, shares and binds a bucket
  const person = {
    email: 'canary.ada@example.org',
    nickname: 'CanaryNickname',
    password: 'Canary-Password-41',
  };
  const ada = await client.register(person.email, person.password, { nickname: person.nickname });
  const asset = await givenAsset(service.services);
  const terms = {
    password: 'canary-share-password',
    title: 'Canary title',
    note: 'Canary note',
    max_uses: 5,
  };
  const { id, token } = await givenShare(service.services, asset, terms);
  const opened = await client.post(`/api/v1/shares/${token}/verify`, { password: terms.password });
  t.is(opened.status, 200, opened.text);
  const order = { plan_id: 'capacity-100g', provider: 'standard' };
  const placed = await watched.post('/api/v1/orders', order, ada.headers);
  t.is(placed.status, 201, placed.text);
  await service.services.commands.changeShare(
    { ...asset, shareId: id, changes: { password: 'canary-other-password' } },
    nextContext(service.services),
  );
  // Then the receiver gets each of them, and the package verifies it
  const wanted = [
    'storage.created',
    'share.created',
    'share.opened',
    'share.password_changed',
    'order.placed',
  ];
  await eventually(`messages ${wanted.join(', ')}`, () =>
    wanted.every((type) => receiver.accepted.some((got) => got.type === type)),
  );
  const verifier = new Webhook(webhookSecret);
  for (const { body, headers } of receiver.accepted) {
    verifier.verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
  }
  t.is(receiver.accepted.find(({ type }) => type === 'order.placed')?.data['user_id'], ada.userId);
  // and no message, and neither list nor files nor log, holds a secret or personal data
  const secrets = canariesOf({
    ...{ ...person, token, ...terms, max_uses: 'Canary', other: 'canary-other-password' },
    credentials: 'not-a-real-secret',
  });
  const bodies = receiver.received.map(({ body }) => body).join('\n');
  t.deepEqual(findCanaries(secrets, 'messages', Buffer.from(bodies)), []);
  t.regex(
    await service.metrics(),
    new RegExp(`stowage_webhook_attempts{endpoint="${endpoint?.id ?? ''}",outcome="delivered"} \\d`),
  );
  const listed = JSON.stringify(await admin.list());
  const ofEndpoint = canariesOf({
    path: 'canary-endpoint-token',
    secret: webhookSecret.slice('whsec_'.length),
  });
  t.deepEqual(findCanaries(ofEndpoint, 'list', Buffer.from(listed)), []);
  t.deepEqual(await sightings(ofEndpoint), []);
});

test('Operators list and replay by the command line, beside the service and without it', async (t) => {
  // Given a stopped service whose endpoint got a message
  const directory = givenDirectory(t);
  const receiver = await startWebhookReceiver(t);
  const environment = {
    WEBHOOK_URLS: `${receiver.url} ${webhookSecret} storage.*`,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  };
  const first = await startInProcess({ directory, environment });
  const id = first.services.webhooks.endpoints[0]?.id ?? '';
  await eventually('record', async () => (await first.services.webhooks.records.endpoint(id)) !== null);
  const { storageId } = await givenAsset(first.services);
  await receiver.acceptedCount(1);
  await first.close();
  // When an operator lists and replays
  const listed = await runCli(directory, ['--json', 'webhooks', 'list'], environment);
  t.is(listed.code, 0, listed.stderr);
  t.like(JSON.parse(listed.stdout), { items: [{ endpoint: id, state: 'delivering', failed: 0 }] });
  t.false(listed.stdout.includes('whsec') || listed.stdout.includes('/hook'));
  const replay = ['webhooks', 'replay', id];
  const replayed = await runCli(
    directory,
    ['--json', ...replay, '--resource', `storage-${storageId}`],
    environment,
  );
  t.is(replayed.code, 0, replayed.stderr);
  t.like(JSON.parse(replayed.stdout), { resources: 1 });
  t.is((await runCli(directory, replay, environment)).code, 2, 'a replay of what?');
  const wrongTime = await runCli(directory, [...replay, '--from', 'yesterday'], environment);
  t.is(wrongTime.code, 2, wrongTime.stderr);
  const unknown = await runCli(directory, ['webhooks', 'failed', '0123456789ab'], environment);
  t.is(unknown.code, 1);
  t.regex(unknown.stderr, /there is no endpoint 0123456789ab; stowage webhooks list shows them/);
  // Then the next service sends it again, with the same id
  await givenInProcess(t, { directory, environment });
  const created = () => receiver.accepted.filter(({ type }) => type === 'storage.created');
  await eventually('replayed message', () => created().length === 2);
  t.is(new Set(created().map(({ id: sent }) => sent)).size, 1);
});

test('A start with a wrong line ends with a sentence that names the line', async (t) => {
  const directory = givenDirectory(t);
  const environment = { WEBHOOK_URLS: `https://shop.example.org/canary-path ${webhookSecret} order.payed` };
  const { code, stderr } = await runCli(directory, ['serve'], environment);
  t.is(code, 1);
  t.regex(stderr, /WEBHOOK_URLS: line 1 names a type that does not exist/);
  t.false(stderr.includes('canary-path'));
});

test('An endpoint at a private address gets nothing without WEBHOOK_ALLOWED_CIDRS, also when STORAGE_ALLOWED_CIDRS opens it', async (t) => {
  const receiver = await startWebhookReceiver(t);
  const environment = {
    WEBHOOK_URLS: `${receiver.url} ${webhookSecret} *`,
    STORAGE_ALLOWED_CIDRS: '127.0.0.0/8',
  };
  const service = await givenInProcess(t, { environment });
  const { records, admin, endpoints } = service.services.webhooks;
  await eventually('record', async () => (await records.endpoint(endpoints[0]?.id ?? '')) !== null);
  await givenAsset(service.services);
  await eventually(
    'refusal in the list',
    async () => (await admin.list())[0]?.last_failure === 'address_refused',
  );
  t.deepEqual(receiver.received, []);
});
