import test from 'ava';
import type { JsonObject } from '../../src/event-sourcing/domain-event.js';
import { asObject, makeServiceClient, textOf } from '../support/service-client.js';
import { freePort, makeDataDirectory, runCli, startService } from '../support/service-process.js';
import { signStandard } from '../support/sign-callbacks.js';

const secret = `whsec_${Buffer.from('test only, the secret of the platform').toString('base64')}`;
const note = 'canary: Ada has sent the receipt';

test('payments that wait are decided on at the command line, while the service runs and while it does not', async (t) => {
  // Given a payment that names no order, and one that is not what was ordered
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const environment = { PAYMENT_STANDARD_WEBHOOK_SECRETS: secret };
  const port = await freePort();
  const start = async () => {
    const service = await startService({ directory: directory.path, port, environment });
    t.teardown(() => service.kill());
    return { service, client: makeServiceClient(service.url) };
  };
  const { service, client } = await start();
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const place = async (): Promise<JsonObject> => {
    const reply = await client.post(
      '/api/v1/orders',
      { plan_id: 'capacity-100g', provider: 'standard' },
      headers,
    );
    t.is(reply.status, 201, reply.text);
    return reply.json();
  };
  const [first, second] = [await place(), await place()];
  const pay = async (id: string, data: JsonObject): Promise<void> => {
    const { headers: signature, body } = signStandard(
      { type: 'payment.paid', timestamp: '2026-01-02T03:04:05.000Z', data: { currency: 'USD', ...data } },
      { id, secret, at: new Date() },
    );
    const path = '/api/v1/payment/webhooks/standard';
    t.is((await client.send(path, { method: 'POST', headers: { ...signature }, body })).status, 200);
  };
  await pay('msg-1', { order_number: 'theirs', transaction_id: 'tx-1', amount: 999 });
  await pay('msg-2', { order_number: textOf(second, 'number'), transaction_id: 'tx-2', amount: 500 });
  const outputs: string[] = [];
  const run = async (...args: string[]) => {
    const ended = await runCli(directory.path, ['payments', ...args], environment);
    outputs.push(ended.stdout, ended.stderr);
    return ended;
  };
  const onlyItem = async (list: string): Promise<JsonObject> => {
    const { items } = JSON.parse((await run(list)).stdout) as { items: JsonObject[] };
    t.is(items.length, 1);
    return items[0] ?? {};
  };

  // When the service runs, then they are listed, and the first is applied to an order
  const unmatched = await onlyItem('unmatched');
  t.like(unmatched, { provider: 'standard', reason: 'unknown_order' });
  const held = textOf(unmatched, 'id');
  const refused = await run('resolve', held, '--action', 'apply', '--note', note);
  t.is(refused.code, 1);
  t.is(refused.stderr, 'stowage: order_id: is missing (invalid_request)\n');
  const order = textOf(first, 'id');
  const applied = await run('resolve', held, '--action', 'apply', '--order', order, '--note', note);
  t.is(applied.code, 0, applied.stderr);
  t.deepEqual(JSON.parse(applied.stdout), {
    ...{ id: held, action: 'apply', disposition: 'applied', order_id: order },
  });
  const paid = (await client.get(`/api/v1/orders/${order}`, headers)).json();
  t.like(paid, { payments: [{ kind: 'paid', transaction_id: 'tx-1', amount: 999, currency: 'USD' }] });

  // And both it and the order tell why
  for (const [command, id] of [
    ['show', held],
    ['order', textOf(first, 'number')],
  ] as const) {
    const shown = JSON.parse(
      (await runCli(directory.path, ['payments', command, id], environment)).stdout,
    ) as {
      readonly decisions: readonly JsonObject[];
    };
    t.is(shown.decisions.length, 1);
    t.like(shown.decisions[0], { payment_id: held, action: 'apply', note, decided_by: 'operator' });
  }
  // And what is of other shops is dismissed at once
  await pay('msg-3', { order_number: 'theirs', transaction_id: 'tx-3', amount: 999 });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const older = ['--reason', 'unknown_order', '--received-before', tomorrow, '--note', note];
  t.deepEqual(JSON.parse((await run('dismiss', ...older)).stdout), { dismissed: 1, next: null });
  t.deepEqual(JSON.parse((await run('unmatched')).stdout), { items: [], next_cursor: null });
  t.regex((await run('resolve', held, '--action', 'refund', '--note', note)).stderr, /apply, dismiss/);

  // When it does not, then the second is applied to its own
  await service.stop();
  const review = await onlyItem('review');
  t.like(review, { order_id: textOf(second, 'id'), reason: 'amount', amount: 500, expected_amount: 999 });
  const mismatch = textOf(review, 'id');
  t.is((await run('resolve', mismatch, '--action', 'apply', '--note', note)).code, 0);

  // And it is granted as soon as the service is there again
  const again = await start();
  const read = async () => (await again.client.get(`/api/v1/orders/${textOf(second, 'id')}`, headers)).json();
  const deadline = Date.now() + 10_000;
  while ((await read())['status'] !== 'fulfilled' && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const shown = await read();
  t.is(shown['status'], 'fulfilled');
  const kinds = (shown['payments'] as JsonObject[]).map((payment) => asObject(payment)['kind']);
  t.deepEqual(kinds, ['mismatch', 'applied']);
  const late = await run('resolve', mismatch, '--action', 'dismiss', '--note', note);
  t.regex(late.stderr, /\(review_resolved\)/);

  // And what operators wrote stands nowhere in clear
  t.notRegex([...outputs, service.output(), again.service.output()].join(), /canary/);
});
