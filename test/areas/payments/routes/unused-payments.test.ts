import test, { type ExecutionContext } from 'ava';
import { fulfilOrders } from '../../../../src/areas/payments/commands/buying/fulfilling.js';
import { isDue, orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import type { TestMessage } from '../../../support/fakes/test-payment-provider.js';
import { givenPayments } from '../../../support/given/payments-over-http.js';
import { pluck } from '../../../support/given/pluck.js';
import { serveReaction } from '../../../support/given/serve-reaction.js';

const path = '/api/v1/admin/payments';
const paid = (amount = 999): PaymentFact => ({ kind: 'paid', amount, currency: 'USD' });
const refunded: PaymentFact = { kind: 'refunded-in-total', amount: 999, currency: 'USD' };
const note = 'The money went back by hand.';

async function start(t: ExecutionContext) {
  const service = await givenPayments(t);
  const { commands, stores, post, get, operator } = service;
  const reaction: AnyReaction = fulfilOrders(commands.fulfilOrder);
  return {
    ...service,
    /** Sends a callback, and serves all events as the reaction does. Returns the name of its first report. */
    send: async (...told: TestMessage['told']) => {
      const id = await service.send(...told);
      await serveReaction(reaction, stores);
      return `${id}.0`;
    },
    review: async () => {
      const answer = await get(`${path}/review`, operator);
      t.is(answer.status, 200, answer.text);
      return (answer.json as { readonly items: readonly Record<string, unknown>[] }).items;
    },
    resolve: (id: string, action: 'apply' | 'dismiss') =>
      post(`${path}/${id}/resolve`, { action, note }, operator),
    record: (body: object) => post(`${path}/record`, { reason: note, evidence: note, ...body }, operator),
    isDue: async (id: string) => {
      const { state } = await stores.handler.load(orderAggregate, id);
      return state.status === 'placed' && isDue(state);
    },
    status: async (id: string) =>
      ((await get(`/api/v1/admin/orders/${id}`, operator)).json as { readonly status: string }).status,
  };
}

test('A second payment of an order is in review until one of the two is given back', async (t) => {
  // Given an order that two transactions pay
  const { place, send, review, status } = await start(t);
  const { id, number } = await place();
  await send({ number, transaction: 't1', fact: paid(), at: '2026-01-02T03:00:00.000Z' });
  t.deepEqual(await review(), []);
  const second = await send({ number, transaction: 't2', fact: paid(), at: '2026-01-02T03:01:00.000Z' });
  // When operators look, then they see the second one with its reason, and the buyer keeps the grant
  const [item, ...others] = await review();
  t.like(item, {
    ...{ id: second, order_id: id, order_number: number, provider: 'standard', reason: 'second_payment' },
    ...{ kind: 'paid', transaction_id: 't2', amount: 999, currency: 'USD', at: '2026-01-02T03:01:00.000Z' },
  });
  t.deepEqual(others, []);
  t.is(await status(id), 'fulfilled');
  // and a refund of it ends the wait.
  await send({ transaction: 't2', fact: refunded });
  t.deepEqual(await review(), []);
});

test('Of two payments the earlier by the platform pays the order, in any order of arrival', async (t) => {
  const { place, send, review } = await start(t);
  const { number } = await place();
  const later = await send({ number, transaction: 't2', fact: paid(), at: '2026-01-02T03:01:00.000Z' });
  await send({ number, transaction: 't1', fact: paid(), at: '2026-01-02T03:00:00.000Z' });
  t.deepEqual(pluck(await review(), 'id'), [later]);
  // A refund of the earlier one leaves one payment, which the order needs.
  await send({ transaction: 't1', fact: refunded });
  t.deepEqual(await review(), []);
});

test('A partial loss is in review until an operator dismisses it, and a further loss of the payment again', async (t) => {
  const { place, send, review, resolve, status, record, isDue: isKept } = await start(t);
  const { id, number } = await place();
  const reversed = (refund_id: string, amount: number): PaymentFact => ({
    ...({ kind: 'refund', refund_id, status: 'reversed', amount, currency: 'USD' } as const),
  });
  const payment = await send({ number, transaction: 't1', fact: paid() });
  // A refund is a loss, too.
  await send({ transaction: 't1', fact: { ...reversed('r0', 1), status: 'succeeded' } as PaymentFact });
  t.like((await review())[0], { id: payment, reason: 'partial_loss', kind: 'lost', amount: 1 });
  await send({ transaction: 't1', fact: reversed('r1', 400) });
  t.like((await review())[0], { id: payment, reason: 'partial_loss', kind: 'lost', amount: 401 });
  t.is((await resolve(payment, 'dismiss')).status, 200);
  t.deepEqual(await review(), []);
  await send({ transaction: 't1', fact: reversed('r2', 100) });
  t.like((await review())[0], { reason: 'partial_loss', amount: 501 });
  t.is((await resolve(payment, 'dismiss')).status, 200);
  t.deepEqual(await review(), []);
  // The whole is lost, and a decision for the seller that an operator records brings the grant back.
  await send({ transaction: 't1', fact: reversed('r3', 498) });
  t.is(await status(id), 'disputed');
  t.false(await isKept(id));
  await record({ order: id, kind: 'dispute_won', dispute_id: 't1', transaction_id: 't1' });
  t.true(await isKept(id));
});

test('A partial loss of a payment is in review once the second payment of its order is dismissed', async (t) => {
  const { place, send, review, resolve } = await start(t);
  const { number } = await place();
  const first = await send({ number, transaction: 't1', fact: paid(), at: '2026-01-02T03:00:00.000Z' });
  const second = await send({ number, transaction: 't2', fact: paid(), at: '2026-01-02T03:01:00.000Z' });
  t.is((await resolve(second, 'dismiss')).status, 200);
  await send({ transaction: 't1', fact: { ...refunded, amount: 400 } });
  t.like(await review(), [{ id: first, reason: 'partial_loss', amount: 400 }]);
});

test('A payment for a deleted project is in review until an operator dismisses it', async (t) => {
  // Given a project order whose project is deleted before the payment
  const { place, send, review, status, resolve, makeProject, buyer, ask, get, operator } = await start(t);
  const projectId = await makeProject(buyer);
  const { id, number } = await place({ plan_id: 'project-s3', project_id: projectId });
  t.is((await ask(`/api/v1/projects/${projectId}`, { method: 'DELETE', headers: buyer })).status, 204);
  // When the buyer pays
  const payment = await send({ number, transaction: 't3', fact: paid(1_900) });
  // Then operators see it, it cannot be applied, and dismissing it ends the wait for good.
  t.like((await review())[0], { id: payment, reason: 'project_deleted', amount: 1_900 });
  t.is(await status(id), 'paid');
  const applied = await resolve(payment, 'apply');
  t.is(applied.status, 409);
  t.regex(applied.text, /counts already/);
  for (const again of [false, true]) {
    const dismissed = await resolve(payment, 'dismiss');
    t.is(dismissed.status, 200, `${again}: ${dismissed.text}`);
    t.like(dismissed.json, { id: payment, order_id: id, disposition: 'ignored' });
  }
  t.deepEqual(await review(), []);
  await send({ number, transaction: 't3', fact: paid(1_900) });
  t.deepEqual(await review(), []);
  const shown = (await get(`/api/v1/admin/orders/${id}`, operator)).json;
  t.like(shown, { payments: [{ kind: 'paid' }, { kind: 'dismissed' }], decisions: [{ note }] });
});

test('A payment of an erased buyer is in review, and its money is given back once', async (t) => {
  const { place, send, review, buyer, ask } = await start(t);
  const { number } = await place();
  t.is((await ask('/api/v1/auth/me', { method: 'DELETE', headers: buyer })).status, 204);
  const payment = await send({ number, transaction: 't4', fact: paid() });
  t.like((await review())[0], { id: payment, reason: 'buyer_erased', amount: 999 });
  // A second payment of it bought nothing either.
  await send({ number, transaction: 't5', fact: paid() });
  t.deepEqual(pluck(await review(), 'reason'), ['buyer_erased', 'buyer_erased']);
  await send({ transaction: 't4', fact: refunded });
  await send({ transaction: 't5', fact: refunded });
  t.deepEqual(await review(), []);
});

test('A payment of a buyer who is erased later is used, and waits for no decision', async (t) => {
  const { place, send, review, buyer, ask } = await start(t);
  const { number } = await place();
  await send({ number, transaction: 't1', fact: paid() });
  t.is((await ask('/api/v1/auth/me', { method: 'DELETE', headers: buyer })).status, 204);
  await send({ number, transaction: 't1', fact: paid() });
  t.deepEqual(await review(), []);
});

test('A partial payment is in review with the amount that was asked for', async (t) => {
  const { place, send, review, status, resolve } = await start(t);
  const { id, number } = await place();
  const part = await send({ number, transaction: 't1', fact: paid(500) });
  t.like((await review())[0], { id: part, reason: 'amount', amount: 500, expected_amount: 999 });
  t.is(await status(id), 'review');
  // Another message about the same payment is no other payment.
  await send({ number, transaction: 't1', fact: paid(500) });
  t.is((await review()).length, 1);
  // An operator who applies it has decided that the order may have it beside another one.
  t.is((await resolve(part, 'apply')).status, 200);
  t.deepEqual(await review(), []);
});

test('A partial payment that an operator applies for an erased buyer is in review again, and dismissed there', async (t) => {
  const { place, send, review, resolve, buyer, ask } = await start(t);
  const { number } = await place();
  t.is((await ask('/api/v1/auth/me', { method: 'DELETE', headers: buyer })).status, 204);
  const part = await send({ number, transaction: 't1', fact: paid(500) });
  t.is((await resolve(part, 'apply')).status, 200);
  await send({ fact: { kind: 'nothing' } });
  t.like((await review())[0], { id: part, reason: 'buyer_erased', amount: 500 });
  t.is((await resolve(part, 'dismiss')).status, 200);
  t.deepEqual(await review(), []);
});
