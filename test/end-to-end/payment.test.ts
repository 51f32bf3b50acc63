import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { asObject, makeServiceClient, storageRequest, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { makeKeptLog, startInProcess } from '../support/servers/service-in-process.js';
import {
  freePort,
  makeDataDirectory,
  runCli,
  givenDirectory,
  givenService,
} from '../support/servers/service-process.js';
import { placeOrder, reportPayment, standardEnvironment } from '../support/clients/standard-platform.js';

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

/** A service with two secrets of the platform, as during a rotation. */
const directory = makeDataDirectory();
const { lines, log } = makeKeptLog();
const opened = openService();
test.after.always(async () => {
  await (await opened).close();
  await (await directory).remove();
});

async function openService() {
  return startInProcess({
    directory: (await directory).path,
    environment: { PAYMENT_STANDARD_WEBHOOK_SECRETS: `${newSecret},${oldSecret}` },
    log,
  });
}

/** A signed-in user, and the platform. */
async function givenBuyer(t: ExecutionContext, email: string) {
  const client = makeServiceClient((await opened).url);
  const { headers } = await client.register(email, 'Correct-Horse-7');
  const read = async (path: string): Promise<JsonObject> => {
    const reply = await client.get(path, headers);
    t.is(reply.status, 200, reply.text);
    return reply.json();
  };
  return {
    client,
    headers,
    read,
    capacity: async () => asObject((await read('/api/v1/auth/me'))['data'])['capacity_bytes'],
    order: async (request: JsonObject) => {
      const order = await placeOrder(client, headers, request);
      return { order, number: textOf(order, 'number'), path: `/api/v1/orders/${textOf(order, 'id')}` };
    },
    send: ({ data, secret = newSecret, ...message }: Sent) =>
      reportPayment(client, data, { ...message, secret }),
  };
}

test('A signed callback pays an order and grants its capacity, and a refund revokes it', async (t) => {
  // Given an order for capacity
  const { send, read, order: place, capacity } = await givenBuyer(t, 'ada@example.org');
  const granted = Number(await capacity());
  const { order, number, path } = await place({ plan_id: 'capacity-100g' });
  t.like(order, { status: 'created', amount: 999, currency: 'USD', payments: [], paid_at: null });
  const data = { order_number: number, transaction_id: 'tx-1', amount: 999, currency: 'USD' };
  const withStatus = (status: string) =>
    eventually(`the order is ${status}`, async () => {
      const one = await read(path);
      return one['status'] === status && one;
    });

  // When a stranger signs a payment, then the order does not change
  const forged = await send({ id: 'msg-1', type: 'payment.paid', data, secret: strangersSecret });
  t.is(forged.status, 401);
  t.is(forged.json()['code'], 'invalid_signature');
  t.deepEqual(await read(path), order);

  // When the platform signs with its old secret, then the service acknowledges and grants the capacity
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
  await eventually('the capacity grows', async () => (await capacity()) !== granted);
  t.is(await capacity(), granted + planBytes);

  // When the platform repeats itself with its new secret, or a stranger reports a refund, then nothing changes
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

  // When the rest is refunded, then the grant ends, and the order lists all reports
  t.is((await refund('msg-4', 999)).status, 200);
  const refunded = await withStatus('refunded');
  t.like(refunded, { status: 'refunded', refunded_amount: 999, paid_at: at });
  t.deepEqual(refunded['payments'], [
    { ...reported, kind: 'paid', amount: 999, at },
    { ...reported, kind: 'refund', amount: 400, at },
    { ...reported, kind: 'refund', amount: 999, at },
  ]);
  await eventually('the capacity is as before', async () => (await capacity()) === granted);
  t.is((await refund('msg-4', 999)).status, 200);
  const last = await read(path);
  t.deepEqual([last['status'], last['payments']], ['refunded', refunded['payments']]);

  // and the service's log contains no secret and no signature
  const said = lines.join('');
  t.true(said.length > 0);
  for (const secret of [oldSecret, newSecret, strangersSecret]) t.false(said.includes(secret.slice(6)));
});

test('A paid order lets a project bind storages until the whole amount is refunded', async (t) => {
  // Given a project without the entitlement, and an order for it
  const { client, headers, send, order: place } = await givenBuyer(t, 'bea@example.org');
  const project = await client.makeProject(headers);
  const bind = (name: string) =>
    client.post(`/api/v1/projects/${project}/storages`, storageRequest(name), headers);
  t.is((await bind('first')).status, 403);
  const { number, path } = await place({ plan_id: 'project-s3', project_id: project });
  const data = { order_number: number, transaction_id: 'tx-2', amount: 1_900, currency: 'USD' };

  // When the order is paid, then the project binds a storage
  t.is((await send({ id: 'msg-5', type: 'payment.paid', data })).status, 200);
  const bound = await eventually('the project may bind a storage', async () => {
    const reply = await bind('second');
    return reply.status !== 403 && reply;
  });
  t.is(bound.status, 201, bound.text);

  // When the payment is refunded, then the project binds no other storage, and the bound one stays
  const back = await send({
    id: 'msg-6',
    type: 'payment.refunded',
    data: { ...data, refunded_amount: 1_900 },
  });
  t.is(back.status, 200);
  await eventually(
    'the order is refunded',
    async () => (await client.get(path, headers)).json()['status'] === 'refunded',
  );
  const refused = await eventually('the project may bind no storage', async () => {
    const reply = await bind('third');
    return reply.status === 403 && reply;
  });
  t.is(refused.json()['code'], 'entitlement_required');
  const storage = `/api/v1/projects/${project}/storages/${textOf(bound.json(), 'id')}`;
  t.is((await client.get(storage, headers)).status, 200);
});

const note = 'canary: Ada has sent the receipt';

test('Operators decide on waiting payments at the command line, with and without a running service', async (t) => {
  // Given a payment that names no order, and one with a wrong amount
  const directory = givenDirectory(t);
  const port = await freePort();
  const start = async () => {
    const service = await givenService(t, { directory, port, environment: standardEnvironment });
    return { service, client: makeServiceClient(service.url) };
  };
  const { service, client } = await start();
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const place = () => placeOrder(client, headers);
  const [first, second] = [await place(), await place()];
  const pay = async (id: string, data: JsonObject): Promise<void> => {
    t.is((await reportPayment(client, data, { id })).status, 200);
  };
  await pay('msg-1', { order_number: 'theirs', transaction_id: 'tx-1', amount: 999 });
  await pay('msg-2', { order_number: textOf(second, 'number'), transaction_id: 'tx-2', amount: 500 });
  const outputs: string[] = [];
  const run = async (...args: string[]) => {
    const ended = await runCli(directory, ['payments', ...args], standardEnvironment);
    outputs.push(ended.stdout, ended.stderr);
    return ended;
  };
  const onlyItem = async (list: string): Promise<JsonObject> => {
    const { items } = JSON.parse((await run(list, '--json')).stdout) as { items: JsonObject[] };
    t.is(items.length, 1);
    return items[0] ?? {};
  };

  // When the service runs, then the command lists them and applies the first to an order
  const unmatched = await onlyItem('unmatched');
  t.like(unmatched, { provider: 'standard', reason: 'unknown_order' });
  const held = textOf(unmatched, 'id');
  const refused = await run('resolve', held, '--action', 'apply', '--note', note);
  t.is(refused.code, 2);
  t.is(refused.stderr, 'stowage: order_id is missing (invalid_request)\n');
  const order = textOf(first, 'id');
  const applied = await run('resolve', held, '--action', 'apply', '--order', order, '--note', note, '--json');
  t.is(applied.code, 0, applied.stderr);
  t.deepEqual(JSON.parse(applied.stdout), {
    ...{ id: held, action: 'apply', disposition: 'applied', order_id: order },
  });
  const paid = (await client.get(`/api/v1/orders/${order}`, headers)).json();
  t.like(paid, { payments: [{ kind: 'paid', transaction_id: 'tx-1', amount: 999, currency: 'USD' }] });

  // and both the payment and the order give the reason
  for (const [command, id] of [
    ['show', held],
    ['order', textOf(first, 'number')],
  ] as const) {
    const shown = JSON.parse(
      (await runCli(directory, ['payments', command, id, '--json'], standardEnvironment)).stdout,
    ) as {
      readonly decisions: readonly JsonObject[];
    };
    t.is(shown.decisions.length, 1);
    t.like(shown.decisions[0], { payment_id: held, action: 'apply', note, decided_by: 'operator' });
  }
  // and the command dismisses the payments of other shops together
  await pay('msg-3', { order_number: 'theirs', transaction_id: 'tx-3', amount: 999 });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const older = ['--reason', 'unknown_order', '--received-before', tomorrow, '--note', note];
  t.deepEqual(JSON.parse((await run('dismiss', ...older, '--json')).stdout), { dismissed: 1, next: null });
  t.deepEqual(JSON.parse((await run('unmatched', '--json')).stdout), { items: [], next_cursor: null });
  t.regex((await run('resolve', held, '--action', 'refund', '--note', note)).stderr, /apply, dismiss/);

  // and records a payment that the platform did not report, which the look-up shows by its transaction
  const third = textOf(await place(), 'number');
  const lost = ['--amount', '999', '--currency', 'USD', '--transaction', 'tx-4'];
  const why = ['--reason', note, '--evidence', 'canary statement'];
  t.regex((await run('record', third, ...lost, ...why)).stderr, /one of --paid, --refunded,.* is needed/);
  const two = await run('record', third, '--paid', '--failed', ...why);
  t.is(two.code, 2);
  t.regex(two.stderr, /cannot be used with option/);
  const record = await run('record', third, '--paid', ...lost, ...why, '--json');
  t.is(record.code, 0, record.stderr);
  t.like(JSON.parse(record.stdout), { order_number: third, outcome: 'recorded', disposition: 'applied' });
  t.regex((await run('record', third, '--paid', ...lost, ...why)).stdout, /^outcome: known$/m);
  const shrunk = await run('record', third, '--refunded', ...lost.with(1, '1000'), ...why);
  t.regex(shrunk.stderr, /more than the payment of 999 minor units \(record_contradicts\)/);
  const show = async (id: string): Promise<JsonObject> =>
    JSON.parse(
      (await runCli(directory, ['payments', 'show', id, '--json'], standardEnvironment)).stdout,
    ) as JsonObject;
  const found = await show('tx-4');
  t.like(found, {
    items: [{ disposition: 'applied', recorded: { reason: note, recorded_by: 'operator' } }],
    orders: [{ number: third }],
  });
  t.like(await show(third), { number: third });
  t.regex((await run('show', 'tx-unknown')).stderr, /no payment, order or transaction has this id/);

  // When the service does not run, then the command applies the second to its own order
  await service.stop();
  const review = await onlyItem('review');
  t.like(review, { order_id: textOf(second, 'id'), reason: 'amount', amount: 500, expected_amount: 999 });
  const mismatch = textOf(review, 'id');
  t.is((await run('resolve', mismatch, '--action', 'apply', '--note', note)).code, 0);

  // and the grant follows as soon as the service runs again
  const again = await start();
  const read = async () => (await again.client.get(`/api/v1/orders/${textOf(second, 'id')}`, headers)).json();
  const shown = await eventually('the order is fulfilled', async () => {
    const order = await read();
    return order['status'] === 'fulfilled' && order;
  });
  const kinds = (shown['payments'] as JsonObject[]).map((payment) => asObject(payment)['kind']);
  t.deepEqual(kinds, ['mismatch', 'applied']);
  const late = await run('resolve', mismatch, '--action', 'dismiss', '--note', note);
  t.regex(late.stderr, /\(review_resolved\)/);

  // and the operators' notes stand nowhere in clear
  t.notRegex([...outputs, service.output(), again.service.output()].join(), /canary/);
});
