import type { ExecutionContext } from 'ava';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import type { JsonObject, JsonValue } from '../../src/event-sourcing/ports/domain-event.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { totpCode } from '../support/fakes/authenticator-app.js';
import { givenContext } from '../support/given/given-stores.js';
import { eventually } from '../support/eventually.js';
import type { FakeStripe } from '../support/platforms/fake-stripe.js';
import {
  asObject,
  type HeaderFields,
  makeServiceClient,
  type SignedIn,
  signedIn,
  textOf,
} from '../support/clients/service-client.js';
import type { ServiceInProcess } from '../support/servers/service-in-process.js';
import type { TestSmtpServer } from '../support/servers/smtp-server.js';
import { agentSecret } from './recorded-service.js';

const password = 'Correct-Horse-7';
const ada = 'ada@example.org';
const bob = 'bob@example.net';

export interface Told {
  /** The headers of each reader. */
  readonly readers: Readonly<Record<string, HeaderFields>>;
  /** The values of path parameters. */
  readonly params: Readonly<Record<string, readonly string[]>>;
}

/** Tells a story with every aggregate: accounts, a project, a bucket, assets, shares, an order with a refund, and a node. */
export async function tellStory(
  t: ExecutionContext,
  service: ServiceInProcess,
  deps: {
    readonly smtp: TestSmtpServer;
    readonly stripe: FakeStripe;
    readonly now: () => Date;
    readonly step: () => Promise<void>;
  },
): Promise<Told> {
  const { smtp, stripe, now, step } = deps;
  const { services } = service;
  const client = makeServiceClient(service.url);
  let contexts = 0;
  const context = () => givenContext((contexts += 1), now(), 'operator');
  const send = async (
    method: string,
    path: string,
    headers: HeaderFields = {},
    body?: JsonValue,
  ): Promise<JsonObject> => {
    await step();
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const init = { method, headers: { ...headers, ...json } };
    const reply = await client.send(
      path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.text.startsWith('{') ? reply.json() : {};
  };
  const until = (what: string, path: string, headers: HeaderFields, holds: (found: JsonObject) => boolean) =>
    eventually(what, async () => {
      const reply = await client.get(path, headers);
      return reply.status === 200 && holds(reply.json()) && reply.json();
    });

  // Ada proves her address by a mailed code and sets a password. Bob has a second factor and is operator and auditor.
  await client.register(ada, password, { nickname: 'Ada' });
  await send('POST', '/api/v1/auth/email-code/send', {}, { email: ada });
  const code = await eventually('the code is mailed', () =>
    smtp.mails.map(({ email }) => /\b[0-9]{6}\b/.exec(email.text ?? '')?.[0]).find((found) => found),
  );
  const login = await client.post('/api/v1/auth/email-code/login', { email: ada, code });
  const adas = signedIn(login.json()).headers;
  await send('POST', '/api/v1/auth/password', adas, { new_password: password });
  await send('PATCH', '/api/v1/auth/me', adas, { nickname: 'Ada L.' });
  await send('POST', '/api/v1/auth/login', {}, { email: ada, password });
  const { headers: bobs, userId: bobId } = await givenAuditor(service, bob, now, context);

  // A project has a member, an invited address and an API key
  const projectId = textOf(await send('POST', '/api/v1/projects', adas, { name: 'Film' }), 'id');
  const project = `/api/v1/projects/${projectId}`;
  await send('PATCH', project, adas, { name: 'Rivers', accent_color: '#0a7f5a' });
  await send('POST', `${project}/members`, adas, { email: bob, role: 'editor' });
  await send('POST', `${project}/members`, adas, { email: 'eve@example.com', role: 'viewer' });
  const issued = await send('POST', `${project}/api-keys`, adas, { name: 'CI', scopes: ['storage:read'] });
  await services.commands.grantEntitlement(
    { projectId, entitlement: 'allow_s3', source: 'operator' },
    context(),
  );

  // A bucket passes its test. A file is uploaded, described and shared, and a visitor opens the share
  const bucket = await givenFakeStorage(t, {}, now);
  const storageId = textOf(
    await send('POST', `${project}/storages`, adas, {
      ...{ name: 'Media', provider: 's3', bucket: 'media', endpoint: `http://127.0.0.1:${bucket.port}` },
      credentials: { access_key: 'an-access-key', secret_key: 'a-secret-key' },
    }),
    'id',
  );
  await send('POST', `${project}/storages/${storageId}/test`, adas);
  await until('the storage is active', `${project}/storages/${storageId}`, adas, (found) => {
    return found['status'] === 'active' && found['is_default'] === true;
  });
  const file = { object_key: 'clip.mp4', media_type: 'video/mp4', size: 4 };
  const assetId = textOf(await send('POST', `${project}/assets`, adas, { name: 'Clip', ...file }), 'id');
  const asset = `${project}/assets/${assetId}`;
  await fetch(`http://127.0.0.1:${bucket.port}/media/clip.mp4`, {
    method: 'PUT',
    headers: { 'content-type': 'video/mp4' },
    body: 'clip',
  });
  await send('POST', `${asset}/uploaded`, adas, {});
  await send('PATCH', asset, adas, { name: 'Rhine', tags: ['rivers'] });
  const share = await send('POST', `${project}/shares`, adas, {
    ...{ asset_id: assetId, password: 'open sesame', max_uses: 5, title: 'The Rhine', notify_sharer: true },
  });
  const [shareId, token] = [textOf(share, 'id'), textOf(share, 'token')];
  await send('POST', `${project}/shares/${shareId}/mail`, adas, { to: [bob], message: 'Have a look' });
  await send('POST', `/api/v1/shares/${token}/verify`, {}, { password: 'open sesame' });
  const revoked = { asset_id: assetId, password: 'open sesame' };
  const second = textOf(await send('POST', `${project}/shares`, adas, revoked), 'id');
  await send('DELETE', `${project}/shares/${second}`, adas);

  // An order is paid, and a part of the money goes back
  const order = await send('POST', '/api/v1/orders', adas, { plan_id: 'capacity-100g', provider: 'stripe' });
  const orderId = textOf(order, 'id');
  await send('POST', `/api/v1/orders/${orderId}/pay`, adas, {});
  const [session] = stripe.sessions;
  if (session === undefined) throw new Error('no session was made');
  const paid = stripe.pay(session);
  const callback = { method: paid.method, headers: { ...paid.headers }, body: paid.body };
  const taken = await client.send('/api/v1/payment/webhooks/stripe', callback);
  if (taken.status !== 200) throw new Error(`the callback was answered ${taken.status}`);
  await until('the order is fulfilled', `/api/v1/orders/${orderId}`, adas, (found) => {
    return found['status'] === 'fulfilled';
  });
  await send('POST', `/api/v1/orders/${orderId}/refund`, bobs, { note: 'asked for', amount: 100 });

  // A node reports a check
  const agent = { 'x-agent-secret': agentSecret };
  const node = await services.commands.addNode({ name: 'edge-1', ip_address: '192.0.2.7' }, context());
  const nodeId = node.resource.id;
  await send('POST', `/api/v1/internal/nodes/${nodeId}/checks`, agent, { ok: false });

  // All mails are sent: the invitation, the share's link and the notice of its opening
  await eventually('the mails are sent', () =>
    ['eve@example.com', bob, ada].every((to) => smtp.mails.some((mail) => mail.to.includes(to))),
  );
  return {
    readers: { ada: adas, bob: bobs, visitor: {}, agent },
    params: {
      projectId: [projectId],
      storageId: [storageId],
      assetId: [assetId],
      shareId: [shareId, second],
      token: [token],
      orderId: [orderId],
      nodeId: [nodeId],
      userId: [bobId],
      keyId: [textOf(issued, 'id')],
      stream: [`project-${projectId}`, `order-${orderId}`],
    },
  };
}

/** Registers an account whose address is proved, with a second factor and the roles of an operator and an auditor. */
export async function givenAuditor(
  { services, url }: ServiceInProcess,
  email: string,
  now: () => Date,
  context: () => CommandContext,
): Promise<SignedIn> {
  const client = makeServiceClient(url);
  const auditor = await client.register(email, password);
  const target = { aggregate: userAggregate, id: auditor.userId };
  await services.handler.handle(
    target,
    { type: 'VerifyEmail', email_digest: services.digests.email(email) },
    context(),
  );
  for (const role of ['operator', 'auditor'] as const)
    await services.commands.grantPlatformRole({ email, role }, context());
  const enrolled = await client.post('/api/v1/auth/2fa/totp', {}, auditor.headers);
  const secret = textOf(asObject(enrolled.json()['data']), 'secret');
  await client.post('/api/v1/auth/2fa/totp/confirm', { code: totpCode(secret, now()) }, auditor.headers);
  return auditor;
}
