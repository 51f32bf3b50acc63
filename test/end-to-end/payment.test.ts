import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/domain-event.js';
import {
  asObject,
  makeServiceClient,
  type ServiceReply,
  storageRequest,
  textOf,
} from '../support/service-client.js';
import { freePort, makeDataDirectory, startService } from '../support/service-process.js';
import { signStandard } from '../support/sign-callbacks.js';

const secretOf = (name: string): string =>
  `whsec_${Buffer.from(`test only, the ${name} secret of the platform`).toString('base64')}`;
const [oldSecret, newSecret, strangersSecret] = [secretOf('old'), secretOf('new'), secretOf('wrong')];
const planBytes = 107_374_182_400;
const acknowledgement = '{"code":"ok","message":"ok"}';

interface Sent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly secret?: string;
}

/** A served process that knows two secrets of the platform, as while they are rotated, and somebody who is signed in. */
async function givenService(t: ExecutionContext) {
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const environment = { PAYMENT_STANDARD_WEBHOOK_SECRETS: `${newSecret},${oldSecret}` };
  const service = await startService({ directory: directory.path, port: await freePort(), environment });
  t.teardown(() => service.kill());
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const read = async (path: string): Promise<JsonObject> => {
    const reply = await client.get(path, headers);
    t.is(reply.status, 200, reply.text);
    return reply.json();
  };
  return {
    service,
    client,
    headers,
    read,
    capacity: async () => asObject((await read('/api/v1/auth/me'))['data'])['capacity_bytes'],
    order: async (request: JsonObject) => {
      const reply = await client.post('/api/v1/orders', { provider: 'standard', ...request }, headers);
      t.is(reply.status, 201, reply.text);
      const order = reply.json();
      return { order, number: textOf(order, 'number'), path: `/api/v1/orders/${textOf(order, 'id')}` };
    },
    send: ({ id, type, data, secret = newSecret }: Sent): Promise<ServiceReply> => {
      const timestamp = '2026-01-02T03:04:05.000Z';
      const { headers: signature, body } = signStandard(
        { type, timestamp, data },
        { id, secret, at: new Date() },
      );
      const path = '/api/v1/payment/webhooks/standard';
      return client.send(path, { method: 'POST', headers: { ...signature }, body });
    },
  };
}

/** Views and reactions follow the log a moment later. */
async function until<Value>(read: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const value = await read();
    if (isSo(value) || Date.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('an order is paid by a signed callback and gives its capacity; a refund takes it back', async (t) => {
  // Given an order for capacity
  const { service, send, read, order: place, capacity } = await givenService(t);
  const granted = Number(await capacity());
  const { order, number, path } = await place({ plan_id: 'capacity-100g' });
  t.like(order, { status: 'created', amount: 999, currency: 'USD', payments: [], paid_at: null });
  const data = { order_number: number, transaction_id: 'tx-1', amount: 999, currency: 'USD' };
  const withStatus = (status: string) =>
    until(
      () => read(path),
      (one) => one['status'] === status,
    );

  // When somebody else signs that it is paid, then nothing is
  const forged = await send({ id: 'msg-1', type: 'payment.paid', data, secret: strangersSecret });
  t.is(forged.status, 401);
  t.is(forged.json()['code'], 'invalid_signature');
  t.deepEqual(await read(path), order);

  // When the platform says so under its old secret, then it is acknowledged, and what was bought is granted
  const paid = await send({ id: 'msg-1', type: 'payment.paid', data, secret: oldSecret });
  t.deepEqual([paid.status, paid.text], [200, acknowledgement]);
  const fulfilled = await withStatus('fulfilled');
  const reported = { provider: 'standard', transaction_id: 'tx-1', currency: 'USD' };
  const at = '2026-01-02T03:04:05.000Z';
  t.like(fulfilled, {
    status: 'fulfilled',
    refunded_amount: 0,
    paid_at: at,
    payments: [{ ...reported, kind: 'paid', amount: 999, at }],
  });
  t.is(await until(capacity, (bytes) => bytes !== granted), granted + planBytes);

  // When it repeats itself under its new secret, or a stranger asks for the money back, then nothing changes
  const again = await send({ id: 'msg-1', type: 'payment.paid', data });
  t.deepEqual([again.status, again.text], [200, acknowledgement]);
  t.is((await send({ id: 'msg-2', type: 'payment.refunded', data, secret: strangersSecret })).status, 401);
  t.deepEqual(await read(path), fulfilled);

  // When a part is refunded, then the grant stays
  const refund = (id: string, refunded: number) =>
    send({ id, type: 'payment.refunded', data: { ...data, refunded_amount: refunded } });
  t.is((await refund('msg-3', 400)).status, 200);
  t.like(await withStatus('partially_refunded'), { status: 'partially_refunded', refunded_amount: 400 });
  t.is(await capacity(), granted + planBytes);

  // When the rest is, then it is taken back; and the order tells all that was reported
  t.is((await refund('msg-4', 999)).status, 200);
  const refunded = await withStatus('refunded');
  t.like(refunded, { status: 'refunded', refunded_amount: 999, paid_at: at });
  t.deepEqual(refunded['payments'], [
    { ...reported, kind: 'paid', amount: 999, at },
    { ...reported, kind: 'refund', amount: 400, at },
    { ...reported, kind: 'refund', amount: 999, at },
  ]);
  t.is(await until(capacity, (bytes) => bytes === granted), granted);
  t.is((await refund('msg-4', 999)).status, 200);
  const last = await read(path);
  t.deepEqual([last['status'], last['payments']], ['refunded', refunded['payments']]);

  // and no secret or signature is in the service's log
  const said = service.output();
  for (const secret of [oldSecret, newSecret, strangersSecret]) t.false(said.includes(secret.slice(6)));
  t.is(await service.stop(), 0);
});

test('a paid order lets a project bind storages, until all of it is refunded', async (t) => {
  // Given a project that may not bind any, and an order for it
  const { service, client, headers, send, order: place } = await givenService(t);
  const project = textOf((await client.post('/api/v1/projects', { name: 'Film' }, headers)).json(), 'id');
  const bind = (name: string) =>
    client.post(`/api/v1/projects/${project}/storages`, storageRequest(name), headers);
  t.is((await bind('first')).status, 403);
  const { number, path } = await place({ plan_id: 'project-s3', project_id: project });
  const data = { order_number: number, transaction_id: 'tx-2', amount: 1_900, currency: 'USD' };

  // When it is paid, then one is bound
  t.is((await send({ id: 'msg-1', type: 'payment.paid', data })).status, 200);
  const bound = await until(
    () => bind('second'),
    ({ status }) => status !== 403,
  );
  t.is(bound.status, 201, bound.text);

  // When the payment is refunded, then no other is, and the one that is there stays
  const back = await send({
    id: 'msg-2',
    type: 'payment.refunded',
    data: { ...data, refunded_amount: 1_900 },
  });
  t.is(back.status, 200);
  await until(
    async () => (await client.get(path, headers)).json()['status'],
    (status) => status === 'refunded',
  );
  const refused = await until(
    () => bind('third'),
    ({ status }) => status === 403,
  );
  t.is(refused.json()['code'], 'entitlement_required');
  const storage = `/api/v1/projects/${project}/storages/${textOf(bound.json(), 'id')}`;
  t.is((await client.get(storage, headers)).status, 200);
  t.is(await service.stop(), 0);
});
