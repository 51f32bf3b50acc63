import test, { type ExecutionContext } from 'ava';
import { Registry } from 'prom-client';
import { makeDismissing } from '../../../../src/areas/payments/commands/deciding/resolving.js';
import { reportKeyOf } from '../../../../src/areas/payments/domain/payment.js';
import { registerPaymentMetrics } from '../../../../src/observing/metrics.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { givenPayments } from '../../../support/given/payments-over-http.js';
import { partial } from '../../../support/fakes/partial.js';
import { pluck } from '../../../support/given/pluck.js';
import { refuses } from '../../../support/given/project-over-http.js';

const path = '/api/v1/admin/payments';
const paid = (amount = 999, currency = 'USD'): PaymentFact => ({ kind: 'paid', amount, currency });
const note = 'The buyer’s canary Ada has asked.';

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

async function start(t: ExecutionContext) {
  const service = await givenPayments(t);
  const { operator, buyer, post, get } = service;
  return {
    ...service,
    list: async (which: 'unmatched' | 'review', query = '') => {
      const answer = await get(`${path}/${which}${query}`, operator);
      t.is(answer.status, 200, answer.text);
      return answer.json as Page;
    },
    resolve: (id: string, body: object, as = operator) => post(`${path}/${id}/resolve`, body, as),
    order: async (id: string) => (await get(`/api/v1/orders/${id}`, buyer)).json,
  };
}

test('A callback without an order is listed, applied to an order, and shown there at once', async (t) => {
  const { place, send, list, resolve, order, logLines } = await start(t);
  const { id: orderId } = await place();
  const id = await send({ number: 'NOT-OURS', transaction: 't1', fact: paid() });
  const item = (await list('unmatched')).items[0];
  t.like(item, {
    ...{ id, provider: 'standard', reason: 'unknown_order', is_ours: true },
    notifications: [{ order_number: 'foreign', transaction_id: 't1', fact: paid() }],
  });
  const request = { action: 'apply', order_id: orderId, note };
  for (const again of [false, true]) {
    const answer = await resolve(id, request);
    t.is(answer.status, 200, `${again}: ${answer.text}`);
    t.deepEqual(answer.json, { id, action: 'apply', order_id: orderId, disposition: 'applied' });
  }
  t.deepEqual((await list('unmatched')).items, []);
  t.like(await order(orderId), {
    status: 'paid',
    payments: [{ kind: 'paid', transaction_id: 't1', amount: 999, currency: 'USD' }],
  });
  const other = await resolve(id, { action: 'dismiss', note });
  t.is(other.status, 409);
  t.is((other.json as { code: string }).code, 'conflict');
  t.notRegex(logLines.join(), /canary/);
});

/** Returns the payment metrics by name and list. */
async function measured(
  clock: Parameters<typeof registerPaymentMetrics>[1],
  readers: Parameters<typeof registerPaymentMetrics>[2],
): Promise<readonly string[]> {
  const registry = new Registry();
  registerPaymentMetrics(registry, clock, readers);
  return [
    ...(await registry.metrics()).matchAll(/^stowage_payments_(\w+)(?:{(?:list|reason)="(\w+)"})? (.+)$/gm),
  ].map(([, name, list, value]) => `${name}${list === undefined ? '' : ` ${list}`}: ${value}`);
}

test('The number and age of waiting payments are measured, and have no value while the read models are unavailable', async (t) => {
  const { place, send, resolve, commands, stores } = await start(t);
  const { number } = await place();
  const none = [
    ...['currency', 'merchant', 'another_payment', 'transaction_of_another_order', 'too_many_reports'],
    ...['second_payment', 'project_deleted', 'buyer_erased', 'partial_loss'],
  ];
  const byReason = (amounts: number) => [
    `in_review amount: ${amounts}`,
    ...none.map((reason) => `in_review ${reason}: 0`),
  ];
  const waiting = (count: number, seconds: number) => [
    ...[`waiting unmatched: ${count}`, `waiting review: ${count}`, ...byReason(count)],
    `unmatched_oldest_seconds: ${seconds}`,
  ];
  t.deepEqual(await measured(stores.clock, commands), waiting(0, 0));
  const first = await send({ number: 'NOT-OURS', transaction: 't1', fact: paid() });
  stores.clock.advance(90_000);
  await send({ number: 'NOT-OURS', transaction: 't4', fact: paid() });
  await send({ number, transaction: 't2', fact: paid(1) }, { number, transaction: 't3', fact: paid(2) });
  stores.clock.advance(30_500);
  t.deepEqual(await measured(stores.clock, commands), waiting(2, 120.5));
  await resolve(first, { action: 'dismiss', note });
  const oldestOf = async (...deps: Parameters<typeof measured>) => (await measured(...deps)).at(-1);
  t.is(await oldestOf(stores.clock, commands), 'unmatched_oldest_seconds: 30.5');
  // Another process with a clock ahead has received it
  t.is(await oldestOf({ now: () => new Date(0) }, commands), 'unmatched_oldest_seconds: 0');
  const isAway = () => Promise.reject(new StoreUnavailable('away'));
  const away = {
    paymentCallbacks: { unmatched: isAway },
    orders: { inReview: isAway, reviewReasons: isAway },
  };
  t.deepEqual(await measured(stores.clock, away), []);
  const wrong = { unmatched: () => Promise.reject(new TypeError('a mistake')) };
  await t.throwsAsync(measured(stores.clock, { ...commands, paymentCallbacks: wrong }), {
    instanceOf: TypeError,
  });
});

test('Unmatched callbacks are listed by the time of their arrival, not by id', async (t) => {
  const { send, list, get, operator, stores } = await start(t);
  // Given callbacks, two at a time
  const sent: string[][] = [];
  for (let n = 0; n < 4; n += 1) {
    const pair = [];
    for (const part of ['a', 'b'])
      pair.push(await send({ number: 'NOT-OURS', transaction: `u${n}${part}`, fact: paid() }));
    sent.push(pair.sort());
    stores.clock.advance(1);
  }
  // Then the longest received come first, and callbacks of one moment by id
  t.notDeepEqual(sent.flat(), sent.flat().toSorted());
  t.deepEqual(pluck((await list('unmatched')).items, 'id'), sent.flat());
  // and an id alone is no valid cursor.
  const place = Buffer.from(sent.flat()[2] ?? '').toString('base64url');
  t.is((await get(`${path}/unmatched?cursor=${place}`, operator)).status, 400);
});

test("A report that differs from its order is listed, and applied or dismissed as the order's history permits", async (t) => {
  const { place, send, list, resolve, order } = await start(t);
  const { id: orderId, number } = await place();
  const wrong = await send({ number, transaction: 't1', fact: paid(998) });
  const refund = await send({
    ...{ number, transaction: 't1' },
    fact: { kind: 'refunded-in-total', amount: 5, currency: 'EUR' },
  });
  const { items } = await list('review');
  t.deepEqual(items.map(({ id }) => id).sort(), [`${wrong}.0`, `${refund}.0`].sort());
  t.like(
    items.find(({ id }) => id === `${wrong}.0`),
    {
      ...{ order_id: orderId, order_number: number, provider: 'standard', reason: 'amount', kind: 'paid' },
      ...{ transaction_id: 't1', amount: 998, currency: 'USD' },
      ...{ expected_amount: 999, expected_currency: 'USD' },
    },
  );
  const applied = await resolve(`${refund}.0`, { action: 'apply', note });
  t.is(applied.status, 409);
  t.regex(applied.text, /dismiss/);
  t.like((await resolve(`${refund}.0`, { action: 'dismiss', note })).json, {
    ...{ order_id: orderId, disposition: 'ignored' },
  });
  t.like((await resolve(`${wrong}.0`, { action: 'apply', order_id: orderId, note })).json, {
    ...{ order_id: orderId, disposition: 'applied' },
  });
  t.deepEqual((await list('review')).items, []);
  const shown = (await order(orderId)) as { status: string; payments: { kind: string; amount: number }[] };
  t.is(shown.status, 'paid');
  t.deepEqual(
    shown.payments.map(({ kind, amount }) => [kind, amount]),
    [
      ['mismatch', 998],
      ['mismatch', 5],
      ['dismissed', 5],
      ['applied', 998],
    ],
  );
});

test('A page continues where the one before ended, with decisions in between', async (t) => {
  const { place, send, list, resolve, stores } = await start(t);
  for (let n = 0; n < 5; n += 1) {
    await send({ number: 'NOT-OURS', transaction: `u${n}`, fact: paid() });
    // The last three arrive at one moment
    if (n < 2) stores.clock.advance(1);
  }
  const orders = [await place(), await place()];
  for (const { number } of orders) {
    for (let n = 0; n < 3; n += 1) await send({ number, transaction: `${number}-${n}`, fact: paid(n) });
  }
  for (const [which, count] of [
    ['unmatched', 5],
    ['review', 6],
  ] as const) {
    const all = (await list(which)).items.map(({ id }) => id);
    t.is(all.length, count);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page = await list(which, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
      const last = seen.at(-1) ?? '';
      t.is((await resolve(last, { action: 'dismiss', note })).status, 200);
    }
    t.deepEqual(seen, all);
  }
});

test('An impossible decision is refused with a reason and writes nothing, and other users cannot decide', async (t) => {
  const { place, send, resolve, buyer, get, stores } = await start(t);
  const { id: orderId } = await place();
  const settled = await send({ number: (await place()).number, transaction: 't2', fact: paid() });
  const id = await send({ number: 'NOT-OURS', transaction: 't1', fact: paid() });
  const unreadable = await send({ fact: { kind: 'unreadable', field: 'amount' } });
  const head = await stores.eventStore.head();
  const unknownOrder = '019b7d00-0000-7000-8000-00000000ffff';
  const apply = { action: 'apply', order_id: orderId, note };
  const refusals: readonly [string, object, string][] = [
    [id, { ...apply, order_id: unknownOrder }, '404 not_found'],
    [id, { action: 'apply', note }, '400 invalid_request'],
    [id, { action: 'dismiss', order_id: orderId, note }, '400 invalid_request'],
    [id, { action: 'dismiss' }, '400 invalid_request'],
    [id, { action: 'dismiss', note: '' }, '400 invalid_request'],
    [id, { action: 'dismiss', note: ' ' }, '400 invalid_request'],
    [id, { action: 'dismiss', note: 'x'.repeat(1_001) }, '400 invalid_request'],
    [id, { action: 'refund', note }, '400 invalid_request'],
    [unreadable, apply, '409 conflict'],
    [`${id}.0`, { action: 'dismiss', note }, '409 conflict'],
    [settled, { action: 'dismiss', note }, '409 conflict'],
    [`${settled}.0`, { action: 'dismiss', note }, '409 conflict'],
    [`${settled}.7`, { action: 'apply', note }, '404 not_found'],
    [`${id}.1`, { action: 'dismiss', note }, '404 not_found'],
    [`${reportKeyOf('standard', 'never')}@0`, { action: 'dismiss', note }, '404 not_found'],
    ['not-an-id', { action: 'dismiss', note }, '404 not_found'],
  ];
  for (const [name, body, expected] of refusals) await refuses(t, resolve(name, body), expected);
  t.is((await resolve(id, { action: 'dismiss', note }, buyer)).status, 403);
  for (const which of ['unmatched', 'review']) t.is((await get(`${path}/${which}`, buyer)).status, 403);
  t.is(await stores.eventStore.head(), head);
});

test('A decision that cannot be completed is 503 and stands', async (t) => {
  const { place, send, resolve, order, stores } = await start(t);
  const { id: orderId } = await place();
  const id = await send({ number: 'NOT-OURS', transaction: 't1', fact: paid() });
  const whole = { ...stores.eventStore };
  Object.assign(stores.eventStore, {
    append: (...args: Parameters<typeof whole.append>) =>
      args[0].startsWith('order-') ? Promise.reject(new StoreUnavailable('away')) : whole.append(...args),
  });
  const apply = { action: 'apply', order_id: orderId, note };
  t.is((await resolve(id, apply)).status, 503);
  Object.assign(stores.eventStore, whole);
  t.is((await resolve(id, { ...apply, action: 'dismiss', order_id: undefined })).status, 409);
  t.is((await resolve(id, apply)).status, 200);
  t.like(await order(orderId), { status: 'paid' });
});

interface Decision {
  readonly payment_id: string;
  readonly action: string;
  readonly order_id: string | null;
  readonly note: string | null;
  readonly decided_by: string;
}

test('Operators see a decision with its note and author until the buyer is erased', async (t) => {
  const { place, send, resolve, operator, buyer, get, stores, logLines } = await start(t);
  const { id: orderId, number } = await place();
  const { json: order } = await get(`/api/v1/orders/${orderId}`, buyer);
  const buyerId = (order as { user_id: string }).user_id;
  // Given one callback that was applied to the order, one of the order that was dismissed, and one without an order
  const applied = await send({ number: 'NOT-OURS', transaction: 't1', fact: paid() });
  await resolve(applied, { action: 'apply', order_id: orderId, note: `${note} 1` });
  const short = await send({ number, transaction: 't2', fact: paid(5) });
  await resolve(`${short}.0`, { action: 'dismiss', note: `${note} 2` });
  const orderless = await send({ number: 'NOT-OURS', transaction: 't3', fact: paid() });
  await resolve(orderless, { action: 'dismiss', note: `${note} 3` });
  const shown = async (what: string): Promise<readonly Decision[]> => {
    const answer = await get(`/api/v1/admin/${what}`, operator);
    t.is(answer.status, 200, answer.text);
    return (answer.json as { decisions: Decision[] }).decisions;
  };
  // Then each shows the reason and the author
  const byOperator = { decided_by: `user:${await idOfOperator()}` };
  const decision = (payment_id: string, action: string, order_id: string | null, n: number) => ({
    ...{ payment_id, action, order_id, note: `${note} ${n}`, decided_at: undefined, ...byOperator },
  });
  const first = decision(applied, 'apply', orderId, 1);
  const second = decision(`${short}.0`, 'dismiss', orderId, 2);
  const undated = async (what: string) =>
    (await shown(what)).map((one) => ({ ...one, decided_at: undefined }));
  t.deepEqual(await undated(`payments/${applied}`), [first]);
  t.deepEqual(await undated(`payments/${short}`), [second]);
  t.deepEqual(await undated(`payments/${short}.0`), [second]);
  t.deepEqual(await undated(`payments/${orderless}`), [decision(orderless, 'dismiss', null, 3)]);
  for (const name of [orderId, number, number.toLowerCase()]) {
    const decisions = await undated(`orders/${name}`);
    t.is(decisions.length, 2);
    for (const one of [first, second])
      t.deepEqual(
        decisions.find(({ note: of }) => of === one.note),
        one,
      );
  }
  t.like((await get(`/api/v1/admin/payments/${applied}`, operator)).json, {
    ...{ provider: 'standard', disposition: 'applied', order_id: orderId, held: null, conflicts: 0 },
    notifications: [{ order_number: 'foreign', transaction_id: 't1' }],
  });
  t.like((await get(`/api/v1/admin/orders/${orderId}`, operator)).json, { id: orderId, status: 'paid' });
  // And no other user reads it
  t.is((await get(`/api/v1/admin/payments/${applied}`, buyer)).status, 403);
  t.is((await get(`/api/v1/admin/orders/${orderId}`, buyer)).status, 403);
  t.false('decisions' in (order as object));
  t.is((await get(`/api/v1/admin/payments/${reportKeyOf('standard', 'never')}@0`, operator)).status, 404);
  t.is((await get('/api/v1/admin/orders/019b7d00-0000-7000-8000-00000000ffff', operator)).status, 404);
  t.notRegex(logLines.join(), /canary/);
  // And the notes about the buyer are erased with the account
  await stores.sealer.destroy({ kind: 'person', userId: buyerId });
  t.deepEqual(
    (await shown(`orders/${orderId}`)).map((decision) => decision.note),
    [null, null],
  );
  t.is((await shown(`payments/${orderless}`))[0]?.note, `${note} 3`);

  async function idOfOperator(): Promise<string> {
    const me = (await get('/api/v1/auth/me', operator)).json as { data: { id: string } };
    return me.data.id;
  }
});

test('Callbacks of other shops are dismissed many at a time, by reason, platform and time of arrival', async (t) => {
  const { place, send, list, post, resolve, operator, stores, commands } = await start(t);
  const { id: orderId } = await place();
  const otherShops: string[] = [];
  for (let n = 0; n < 103; n += 1) {
    otherShops.push(await send({ number: 'NOT-OURS', transaction: `t${n}`, fact: paid() }));
  }
  const unreadable = await send({ fact: { kind: 'unreadable', field: 'amount' } });
  const before = stores.clock.now();
  const late = {
    reason: 'unknown_order',
    received_before: new Date(before.getTime() + 1).toISOString(),
  } as const;
  const ask = { ...late, note };
  const dismiss = (body: object) => post(`${path}/unmatched/dismiss`, body, operator);
  // When no callback is old enough, or of the platform, then none is dismissed
  t.like((await dismiss({ ...ask, provider: 'stripe' })).json, { dismissed: 0 });
  // All callbacks arrived after this time.
  const tooEarly = { ...ask, received_before: before.toISOString() };
  t.deepEqual((await dismiss(tooEarly)).json, { dismissed: 0, next: null });
  for (const bad of [{ note: '' }, { reason: 'any' }, { received_before: 'today' }, { after: 'x' }]) {
    t.is((await dismiss({ ...ask, ...bad })).status, 400, JSON.stringify(bad));
  }
  t.is((await list('unmatched', '?limit=200')).items.length, 104);
  // And one of them was refunded, which further callbacks of the same transaction say
  for (const status of ['pending', 'succeeded'] as const)
    await send({
      ...{ number: 'NOT-OURS', transaction: 't1' },
      fact: { kind: 'refund', refund_id: 'r1', status, amount: 999, currency: 'USD' },
    });
  // When one of them is applied to an order meanwhile
  const [taken = ''] = otherShops;
  await resolve(taken, { action: 'apply', order_id: orderId, note });
  // Then all others are dismissed, page by page, and no other callback is
  let [dismissed, after]: [number, string | null] = [0, null];
  let calls = 0;
  do {
    const answer = await dismiss({ ...ask, provider: 'standard', after });
    t.is(answer.status, 200, answer.text);
    const reply = answer.json as { readonly dismissed: number; readonly next: string | null };
    [dismissed, after] = [dismissed + reply.dismissed, reply.next];
    calls += 1;
  } while (after !== null);
  t.is(dismissed, 104);
  t.is(calls, 2);
  t.deepEqual(pluck((await list('unmatched')).items, 'id'), [unreadable]);
  t.deepEqual((await dismiss(ask)).json, { dismissed: 0, next: null });
  // And an item of a stale list that was already decided stays unchanged
  const { resolvePayment } = commands;
  const listed = {
    ...({ id: taken, reason: 'unknown_order', provider: 'standard', is_ours: true } as const),
    ...{ received_at: before.toISOString(), notifications: [] },
  };
  const { clock } = stores;
  const behind = makeDismissing({
    ...{ resolvePayment, clock },
    paymentCallbacks: partial({
      unmatched: () => Promise.resolve([listed]),
      pendingWith: () => Promise.resolve([listed]),
    }),
  });
  const asked = { ...late, note: 'another note', after: null };
  const none = await behind.dismissUnmatched(asked, givenContext(7_100, before, 'operator'));
  t.deepEqual(none, { dismissed: 0, next: null });
  // And a call on slow stores ends after 5 s, and says where to go on
  const slow = makeDismissing({
    clock,
    resolvePayment: ({ id }) => {
      clock.advance(2_000);
      return Promise.resolve(partial({ id }));
    },
    paymentCallbacks: partial({
      unmatched: () => Promise.resolve([1, 2, 3, 4].map((n) => ({ ...listed, id: `${taken}.${n}` }))),
      pendingWith: (id) => Promise.resolve([{ ...listed, id }]),
    }),
  });
  const ended = await slow.dismissUnmatched(asked, givenContext(7_101, before, 'operator'));
  t.is(ended.dismissed, 3);
  t.regex(ended.next ?? '', /\.3$/);
});
