import test, { type ExecutionContext } from 'ava';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import { givenPayments } from '../../../support/given/payments-over-http.js';

const path = '/api/v1/admin/payments';
const paidFact: PaymentFact = { kind: 'paid', amount: 999, currency: 'USD' };
const why = { reason: 'The callback of canary Ada was lost.', evidence: 'Statement 7 of the canary account' };
const money = { transaction_id: 't1', amount: 999, currency: 'USD' };
const paid = { kind: 'paid', ...money, ...why };

interface Item {
  readonly id: string;
  readonly recorded: object | null;
}

async function start(t: ExecutionContext) {
  const service = await givenPayments(t);
  const { post, get, operator } = service;
  return {
    ...service,
    record: (body: object) => post(`${path}/record`, body, operator),
    order: async (id: string) => (await get(`/api/v1/admin/orders/${id}`, operator)).json,
    find: async (transaction: string) =>
      (await get(`${path}?transaction_id=${transaction}`, operator)).json as {
        readonly items: readonly Item[];
        readonly orders: readonly { readonly id: string; readonly status: string }[];
      },
  };
}

test('An operator records a payment, and the callback that comes later changes nothing more', async (t) => {
  // Given an order whose callback was lost
  const { place, record, send, order, find, stores, logLines } = await start(t);
  const { id, number } = await place();
  // When an operator records the payment twice
  const recorded = await record({ order: number, ...paid });
  t.is(recorded.status, 200, recorded.text);
  const expected = {
    order_id: id,
    order_number: number,
    disposition: 'applied',
    order_status: 'paid',
    in_review: [],
  };
  t.like(recorded.json, { ...expected, outcome: 'recorded' });
  t.like((await record({ order: id, ...paid, reason: 'again' })).json, { ...expected, outcome: 'known' });
  // and the callback comes after all
  await send({ number, transaction: 't1', fact: paidFact });
  // Then the order has one payment
  t.like(await order(id), {
    status: 'paid',
    payments: [{ kind: 'paid', transaction_id: 't1', amount: 999 }],
  });
  t.is(((await order(id)) as { payments: readonly unknown[] }).payments.length, 1);
  // and the look-up shows the record with its reason, the callback, and the order.
  const { items, orders } = await find('t1');
  t.is(items.length, 2);
  t.like(
    items.find(({ recorded: by }) => by !== null),
    { disposition: 'applied', order_id: id, recorded: { ...why } },
  );
  t.like(
    items.find(({ recorded: by }) => by === null),
    { disposition: 'already_applied', order_id: id },
  );
  t.deepEqual(
    orders.map((found) => found.id),
    [id],
  );
  t.deepEqual(await find('t2'), { items: [], orders: [] });
  // The log names the operator as the actor, and contains the reason only sealed.
  const { events } = await stores.eventStore.readAll({ after: null, limit: 1_000 });
  const ofRecord = events.filter(({ data }) => 'recorded' in data);
  t.is(ofRecord.length, 1);
  t.regex(ofRecord[0]?.metadata.actor ?? '', /^user:/);
  t.notRegex(JSON.stringify(events.map(({ data, metadata }) => [data, metadata])), /canary/);
  t.notRegex(logLines.join(), /canary/);
});

test('A record that waits for nothing settles what waited for it', async (t) => {
  // Given a refund whose payment was lost
  const { place, record, send, order } = await start(t);
  const { id } = await place();
  await send({ transaction: 't1', fact: { kind: 'refunded-in-total', amount: 400, currency: 'USD' } });
  // When an operator records the payment, then the refund counts.
  t.like((await record({ order: id, ...paid })).json, { order_status: 'partially_refunded' });
  t.like(await order(id), { refunded_amount: 400 });
});

test('A recorded refund, failure and dispute have the effect of a callback', async (t) => {
  const { place, record } = await start(t);
  const first = await place();
  t.like((await record({ order: first.id, kind: 'failed', ...why })).json, { order_status: 'failed' });
  t.like((await record({ order: first.id, ...paid })).json, { order_status: 'paid' });
  const part = { order: first.id, kind: 'refunded', ...money, ...why };
  t.like((await record({ ...part, amount: 400, refund_id: 'r1' })).json, {
    order_status: 'partially_refunded',
  });
  t.like((await record({ ...part })).json, { order_status: 'refunded' });
  const second = await place();
  const dispute = { order: second.id, transaction_id: 't2', ...why };
  await record({ order: second.id, ...paid, transaction_id: 't2' });
  t.like((await record({ ...dispute, kind: 'disputed' })).json, { order_status: 'disputed' });
  t.like((await record({ ...dispute, kind: 'dispute_won' })).json, { order_status: 'paid' });
});

test('A record of another amount than the price is reviewed, and a second payment too', async (t) => {
  const { place, record } = await start(t);
  const { id } = await place();
  t.like((await record({ order: id, ...paid, amount: 500 })).json, {
    ...{ disposition: 'mismatch', order_status: 'review', in_review: ['amount'] },
  });
  const { id: other } = await place();
  await record({ order: other, ...paid, transaction_id: 't3' });
  t.like((await record({ order: other, ...paid, transaction_id: 't4' })).json, {
    ...{ disposition: 'applied', order_status: 'paid', in_review: ['second_payment'] },
  });
});

test('A record that contradicts what is known is refused with a sentence, and writes nothing', async (t) => {
  const { place, record, stores } = await start(t);
  const [{ id }, { id: other }, { id: reviewed }] = [await place(), await place(), await place()];
  await record({ order: id, ...paid });
  const refunded = { order: id, kind: 'refunded', ...money, ...why };
  await record({ ...refunded, amount: 500 });
  await record({ order: reviewed, ...paid, transaction_id: 't9', amount: 500 });
  const countEvents = async () =>
    (await stores.eventStore.readAll({ after: null, limit: 1_000 })).events.length;
  const twice = (await place()).id;
  await record({ order: twice, ...paid, transaction_id: 't6' });
  await record({ ...refunded, order: twice, transaction_id: 't6', refund_id: 'r1', amount: 600 });
  const before = await countEvents();
  const contradictions: readonly (readonly [object, RegExp])[] = [
    [{ order: id, ...paid, amount: 500 }, /has paid the order with another amount/],
    [{ order: other, ...paid }, /the transaction has paid another order/],
    [{ order: other, ...paid, provider: 'stripe' }, /is paid through standard, not through stripe/],
    [{ ...refunded, order: other, transaction_id: 't8' }, /record the payment first/],
    [{ ...refunded, currency: 'EUR' }, /in this currency is known/],
    [{ ...refunded, amount: 1_000 }, /more than the payment of 999 minor units/],
    [{ ...refunded, amount: 400 }, /500 minor units are refunded already/],
    [
      { ...refunded, order: twice, transaction_id: 't6', refund_id: 'r2', amount: 600 },
      /600 minor units are refunded already, and with/,
    ],
    [{ order: id, kind: 'failed', ...why }, /the order has a payment/],
    [{ order: other, kind: 'disputed', transaction_id: 't7', ...why }, /no payment of this transaction/],
    [{ order: reviewed, ...paid, transaction_id: 't9' }, /waits in review; decide on that one/],
  ];
  for (const [body, sentence] of contradictions) {
    const answer = await record(body);
    t.is(answer.status, 409, answer.text);
    t.regex(answer.text, sentence);
  }
  const faulty: readonly (readonly [object, RegExp])[] = [
    [{ order: other, ...paid, amount: undefined }, /amount is missing/],
    [{ order: other, ...paid, transaction_id: undefined }, /transaction_id is missing/],
    [{ order: other, kind: 'failed', amount: 5, ...why }, /amount must be left out: it is for a payment/],
    [{ order: other, ...paid, refund_id: 'r1' }, /refund_id must be left out: it is for a refund/],
    [{ order: other, ...paid, evidence: '' }, /evidence/],
    [{ order: other, ...paid, kind: 'given' }, /kind/],
    [{ order: other, ...paid, at: '2062-01-01T00:00:00Z' }, /at lies in the future/],
  ];
  for (const [body, sentence] of faulty) {
    const answer = await record(body);
    t.is(answer.status, 400, answer.text);
    t.regex(answer.text, sentence);
  }
  t.is((await record({ ...paid, order: '019b7d00-0000-7000-8000-00000000a001' })).status, 404);
  t.is(await countEvents(), before);
});

test('The reason of a record is gone with its buyer, and the record stays', async (t) => {
  const { record, find, ask, signUp, post } = await start(t);
  const ada = await signUp('ada');
  const placed = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider: 'standard' }, ada);
  const { id } = placed.json as { readonly id: string };
  await record({ order: id, ...paid });
  t.is((await ask('/api/v1/auth/me', { method: 'DELETE', headers: ada })).status, 204);
  const [item] = (await find('t1')).items;
  t.like(item, { recorded: { reason: null, evidence: null }, order_id: id });
});
