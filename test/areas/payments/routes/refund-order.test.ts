import test, { type ExecutionContext } from 'ava';
import { PlatformError } from '../../../../src/areas/payments/platforms/payment-maker.js';
import { makeTestPaymentMaker } from '../../../support/fakes/test-payment-maker.js';
import { givenPayments } from '../../../support/given/payments-over-http.js';
import { pluck } from '../../../support/given/pluck.js';

const note = 'canary: Ada asked for it';

/** An order of 999 USD that is paid, and an operator. */
async function givenPaid(t: ExecutionContext) {
  const maker = makeTestPaymentMaker({ now: () => new Date() });
  const service = await givenPayments(t, { paymentMakers: new Map([['standard', maker]] as const) });
  const order = await service.place();
  const fact = { kind: 'paid', amount: 999, currency: 'USD' } as const;
  await service.send({ number: order.number, transaction: 't1', fact });
  const refund = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    service.post(`/api/v1/orders/${order.id}/refund`, { note, ...body }, { ...service.operator, ...headers });
  const events = async () => {
    const stored = await service.stores.eventStore.read(`checkout-${order.id}`, { limit: 100 });
    return stored.map(({ type, data, metadata }) => ({ type, data, actor: metadata.actor }));
  };
  return { ...service, maker, order, refund, events };
}

const codeOf = (answer: { readonly json: unknown }) => (answer.json as { code: string }).code;

test('An operator refunds a part and the rest, and each refund is in the history with its operator', async (t) => {
  const { refund, maker, order, events } = await givenPaid(t);

  const part = await refund({ amount: 400 });
  t.is(part.status, 201, part.text);
  t.like(part.json, { order_id: order.id, transaction_id: 't1', refund_id: 'refund-1', amount: 400 });
  const rest = await refund({});
  t.like(rest.json, { refund_id: 'refund-2', amount: 599, currency: 'USD' });

  t.like(maker.refunds, [
    { orderNumber: order.number, transactionId: 't1', amount: { amount: 400 }, paid: { amount: 999 } },
    { amount: { amount: 599, currency: 'USD' } },
  ]);
  const history = await events();
  t.deepEqual(pluck(history, 'type'), ['RefundAsked', 'RefundAccepted', 'RefundAsked', 'RefundAccepted']);
  t.like(history[0], { data: { amount: 400, currency: 'USD', transaction_id: 't1' } });
  t.regex(String(history[0]?.actor), /^user:/);
  t.false(JSON.stringify(history).includes('canary'));
});

test('A refund above what remains is refused, before and after the platform reports refunds', async (t) => {
  const { refund, maker, order, send } = await givenPaid(t);
  t.is(codeOf(await refund({ amount: 1_000 })), 'conflict');
  t.is((await refund({ amount: 900 })).status, 201);
  t.is(codeOf(await refund({ amount: 100 })), 'conflict');
  const money = { amount: 900, currency: 'USD' };
  const fact = { kind: 'refund', refund_id: 'refund-1', status: 'succeeded', ...money } as const;
  await send({ number: order.number, transaction: 't1', fact });
  t.is(codeOf(await refund({ amount: 100 })), 'conflict');
  t.is((await refund({ amount: 99 })).status, 201);
  t.is(codeOf(await refund({})), 'conflict');
  t.is(maker.refunds.length, 2);
});

test('Two refunds at once give back no more than was paid', async (t) => {
  const { refund, maker } = await givenPaid(t);
  const answers = await Promise.all([refund({ amount: 600 }), refund({ amount: 600 })]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  t.is(maker.refunds.length, 1);
});

test('The same Idempotency-Key makes one refund, also after the platform did not answer', async (t) => {
  const { refund, maker, events } = await givenPaid(t);
  const key = { 'idempotency-key': 'refund-of-ada' };
  maker.failNext(new PlatformError('outcome_unknown', 'connection_timeout'));
  const away = await refund({ amount: 400 }, key);
  t.deepEqual([away.status, codeOf(away)], [503, 'platform_unavailable']);
  const made = await refund({ amount: 400 }, key);
  t.is(made.status, 201, made.text);
  t.deepEqual((await refund({ amount: 400 }, key)).json, made.json);
  t.is(maker.refunds.length, 1);
  t.is((await events()).length, 2);
});

test('While a refund has no answer, its payment has no other refund, and any operator asks for it again by its id', async (t) => {
  // Given a refund that the platform may have made, and a key that is forgotten
  const { refund, maker, events } = await givenPaid(t);
  maker.failNext(new PlatformError('outcome_unknown', 'connection_timeout'));
  t.is((await refund({ amount: 400 })).status, 503);
  // When another refund is asked for
  const other = await refund({ amount: 400 });
  // Then it is refused with the id of the first one
  t.is(codeOf(other), 'conflict');
  const [, id = ''] = /repeats: ([0-9a-f-]{36})/.exec(other.text) ?? [];
  t.deepEqual(maker.refunds, []);
  // When the first one is asked for again
  const made = await refund({ repeats: id });
  // Then the platform gets its key, and other refunds are possible
  t.like(made.json, { id, amount: 400 });
  t.like(maker.refunds, [{ idempotencyKey: id }]);
  t.is((await events()).length, 2);
  // And a repetition that comes after the answer asks the platform nothing, which may have forgotten the key
  const forgetful = maker.refunds.length;
  maker.failNext(new PlatformError('outcome_unknown', 'connection_timeout'));
  t.deepEqual((await refund({ repeats: id })).json, made.json);
  t.is(maker.refunds.length, forgetful);
  t.is((await refund({ amount: 100 })).status, 503);
  t.is(codeOf(await refund({ amount: 100 })), 'conflict');
  t.is(codeOf(await refund({ repeats: '0196a000-0000-7000-8000-000000000001' })), 'conflict');
});

test('A refund without an answer that the platform has reported is not made again', async (t) => {
  // Given a refund without an answer, and a refund of the same amount that the platform reported before
  const { refund, maker, send } = await givenPaid(t);
  const reported = (refund_id: string, at: string) =>
    send({
      ...{ transaction: 't1', at },
      fact: { kind: 'refund', refund_id, status: 'succeeded', amount: 400, currency: 'USD' },
    });
  await reported('by-hand', '2025-12-01T00:00:00.000Z');
  maker.failNext(new PlatformError('outcome_unknown', 'connection_timeout'));
  t.is((await refund({ amount: 400 })).status, 503);
  const [, id = ''] = /repeats: ([0-9a-f-]{36})/.exec((await refund({ amount: 1 })).text) ?? [];
  // When the platform reports the refund, and an operator asks for it again
  await reported('without-answer', new Date().toISOString());
  const again = await refund({ repeats: id });
  // Then it is that one, and the platform, which may have forgotten the key, is not asked
  t.is(again.status, 201, again.text);
  t.like(again.json, { id, refund_id: 'without-answer', amount: 400 });
  t.deepEqual(maker.refunds, []);
  t.is((await refund({})).status, 201);
  t.like(maker.refunds, [{ amount: { amount: 199 } }]);
});

test('A refund that was asked for while the clock was ahead is not made again once the platform has reported it', async (t) => {
  // Given a refund without an answer, which the service asked for with a clock that is ten minutes ahead
  const { refund, maker, send, stores } = await givenPaid(t);
  const now = stores.clock.now.bind(stores.clock);
  stores.clock.now = () => new Date(now().getTime() + 600_000);
  maker.failNext(new PlatformError('outcome_unknown', 'connection_timeout'));
  t.is((await refund({ amount: 400 })).status, 503);
  const [, id = ''] = /repeats: ([0-9a-f-]{36})/.exec((await refund({ amount: 1 })).text) ?? [];
  stores.clock.now = now;
  // When the platform, whose clock is right, reports the refund, and an operator asks for it again
  const fact = { kind: 'refund', status: 'succeeded', amount: 400, currency: 'USD' } as const;
  await send({
    ...{ transaction: 't1', at: now().toISOString() },
    fact: { ...fact, refund_id: 'without-answer' },
  });
  const again = await refund({ repeats: id });
  // Then it is that one, and the platform, which may have forgotten the key, is not asked
  t.is(again.status, 201, again.text);
  t.like(again.json, { id, refund_id: 'without-answer', amount: 400 });
  t.deepEqual(maker.refunds, []);
});

test('A refusal of the platform is 409, and the amount can go back again', async (t) => {
  const { refund, maker, events } = await givenPaid(t);
  maker.failNext(new PlatformError('refused', 'charge_disputed'));
  const refused = await refund({});
  t.deepEqual([refused.status, codeOf(refused)], [409, 'conflict']);
  t.true(refused.text.includes('charge_disputed'));
  t.like((await events())[1], { type: 'RefundRefused', data: { code: 'charge_disputed' } });
  t.is((await refund({})).status, 201);
});

test('Only operators refund, and only a payment of the order', async (t) => {
  const { refund, post, buyer, place, operator } = await givenPaid(t);
  const unpaid = await place();
  t.is((await refund({}, buyer)).status, 403);
  const path = `/api/v1/orders/${unpaid.id}/refund`;
  t.is(codeOf(await post(path, { note }, operator)), 'conflict');
  t.is(codeOf(await refund({ transaction_id: 't2' })), 'conflict');
  t.is((await refund({ amount: 0 })).status, 400);
  t.is((await refund({ note: ' ' })).status, 400);
});
