import test, { type ExecutionContext } from 'ava';
import type { Money } from '../../../../../src/areas/payments/domain/fact.js';
import { decimalAmount } from '../../../../../src/areas/payments/platforms/money.js';
import {
  makePayPalClient,
  paypalUrls,
} from '../../../../../src/areas/payments/platforms/paypal/paypal-client.js';
import { makePayPalMaker } from '../../../../../src/areas/payments/platforms/paypal/paypal-maker.js';
import { givenPayPal, paypalApp } from '../../../../support/platforms/fake-paypal.js';
import { givenPlatformServer } from '../../../../support/platforms/platform-server.js';
import { failureOf, makeTestCall, paymentRequest } from './given-makers.js';

const start = new Date('2026-01-02T03:04:05.678Z');
const hours = (count: number) => new Date(start.getTime() + count * 3_600_000);
const dollars: Money = { amount: 999, currency: 'USD' };

/** PayPal, and a maker that asks it. `clock.now` is the time of both. */
async function givenMaker(
  t: ExecutionContext,
  api = paypalApp as { clientId: string; clientSecret: string },
) {
  const clock = { now: start };
  const now = () => clock.now;
  const paypal = await givenPayPal(t, { now, tokenSeconds: 3_600 });
  const client = makePayPalClient({ baseUrl: paypal.url, api, call: makeTestCall(), now });
  const maker = makePayPalMaker({ client, now });
  let keys = 0;
  const pay = (price: Money = dollars, expiresAt = hours(24)) =>
    maker.makePayment({ ...paymentRequest, price, expiresAt, idempotencyKey: `key-${(keys += 1)}` });
  const capture = (reference: string | null, idempotencyKey: string) =>
    maker.capture?.({ reference: reference ?? '', idempotencyKey }) ??
    Promise.reject(new Error('no capture'));
  return { paypal, clock, client, maker, pay, capture };
}

test('PayPal gets the price in its decimals, and its callback reads back the price', async (t) => {
  const { paypal, pay } = await givenMaker(t);
  const prices: readonly (readonly [Money, string])[] = [
    [{ amount: 5, currency: 'EUR' }, '0.05'],
    [{ amount: 1_230, currency: 'EUR' }, '12.30'],
    [{ amount: 500, currency: 'JPY' }, '500'],
    [{ amount: 350_000, currency: 'HUF' }, '3500'],
    [{ amount: 29_900, currency: 'TWD' }, '299'],
  ];
  for (const [price, value] of prices) {
    await pay(price);
    t.like(paypal.orders.at(-1), { value, currency: price.currency, number: paymentRequest.orderNumber });
    t.deepEqual(decimalAmount(value, price.currency), price);
  }
  const { length } = paypal.requests;
  t.is(await failureOf(pay({ amount: 350_050, currency: 'HUF' })), 'refused amount_not_payable');
  t.is(paypal.requests.length, length);
});

test('A payment can be approved for three hours, and not longer than its order lives', async (t) => {
  const { paypal, pay } = await givenMaker(t);
  const made = await pay();
  t.like(made, { kind: 'redirect', expiresAt: hours(3), reference: paypal.orders[0]?.id });
  t.is(made.url, `https://www.paypal.com/checkoutnow?token=${made.reference ?? ''}`);
  t.deepEqual((await pay(dollars, hours(2))).expiresAt, hours(2));
});

test('One token serves all calls until a minute before its end, also for calls at once', async (t) => {
  const { paypal, clock, pay } = await givenMaker(t);
  await Promise.all([pay(), pay(), pay()]);
  clock.now = new Date(start.getTime() + 3_539_999);
  await pay();
  t.is(paypal.tokens.length, 1);
  clock.now = new Date(start.getTime() + 3_540_000);
  await pay();
  t.is(paypal.tokens.length, 2);
});

test('A token that PayPal has forgotten is renewed once, and its request is repeated with the same key', async (t) => {
  const { paypal, pay } = await givenMaker(t);
  await pay();
  paypal.forgetTokens();
  await pay();
  t.is(paypal.tokens.length, 2);
  const keys = paypal.requests.map(({ headers }) => headers['paypal-request-id']);
  t.deepEqual(keys, [undefined, 'key-1', 'key-2', undefined, 'key-2']);
});

test('Credentials that PayPal does not know are an unavailable platform, and nothing is asked for', async (t) => {
  const { paypal, pay } = await givenMaker(t, { ...paypalApp, clientSecret: 'TestOnlyWrong0123456789' });
  t.is(await failureOf(pay()), 'unavailable invalid_client');
  t.is(paypal.requests.length, 1);
});

/** A server in PayPal's place that gives one token, and one reply to all other requests. */
async function givenReplies(
  t: ExecutionContext,
  reply: { readonly status: number; readonly body: string },
  token = '{"access_token":"known","expires_in":3600}',
) {
  const headers = { 'content-type': 'application/json' };
  const server = await givenPlatformServer(t, ({ path }) =>
    path === '/v1/oauth2/token' ? { status: 200, headers, body: token } : { ...reply, headers },
  );
  const baseUrl = `https://api-m.paypal.com:${server.port}`;
  const client = makePayPalClient({ baseUrl, api: paypalApp, call: makeTestCall(), now: () => start });
  return { server, client };
}

test('A token that PayPal does not accept after its renewal is an unavailable platform', async (t) => {
  const { server, client } = await givenReplies(t, { status: 401, body: '{"error":"invalid_token"}' });
  t.is(await failureOf(client({ method: 'GET', path: '/v2/x' })), 'unavailable invalid_token');
  t.is(server.requests.length, 4);
});

for (const body of ['{}', '{"access_token":"a b","expires_in":9}', '{"access_token":"a"}', 'no json']) {
  test(`A token that cannot be used is an unavailable platform: ${body}`, async (t) => {
    const { client } = await givenReplies(t, { status: 200, body }, body);
    t.is(await failureOf(client({ method: 'GET', path: '/v2/x' })), 'unavailable unreadable_reply');
  });
}

test('A capture takes the money once, under the same key and under another', async (t) => {
  const { paypal, pay, capture } = await givenMaker(t);
  const { reference } = await pay();
  const [order] = paypal.orders;
  if (order === undefined) throw new Error('no order');
  t.is(await failureOf(capture(reference, 'capture-1')), 'unavailable ORDER_NOT_APPROVED');
  paypal.approve(order);
  for (const key of ['capture-1', 'capture-1', 'capture-2']) await capture(reference, key);
  t.is(order.status, 'COMPLETED');
  t.is(paypal.unsent().length, 1);
});

test('A capture that moves no money is refused with the code of PayPal', async (t) => {
  const { paypal, pay, capture } = await givenMaker(t);
  const { reference } = await pay();
  const [order] = paypal.orders;
  if (order === undefined) throw new Error('no order');
  order.refusals.push('INSTRUMENT_DECLINED');
  paypal.approve(order);
  t.is(await failureOf(capture(reference, 'capture-1')), 'refused INSTRUMENT_DECLINED');
  paypal.expire(order);
  t.is(await failureOf(capture(reference, 'capture-2')), 'refused INVALID_RESOURCE_ID');
});

const captured = (status: string, capture: string | null = null): string =>
  JSON.stringify({
    status,
    purchase_units: [{ payments: { captures: capture === null ? [] : [{ status: capture }] } }],
  });
const outcomes: Readonly<Record<string, readonly [string, string]>> = {
  'A capture that the bank reviews is taken on': [captured('COMPLETED', 'PENDING'), 'none'],
  'A capture that is declined in the reply is refused': [
    captured('COMPLETED', 'DECLINED'),
    'refused DECLINED',
  ],
  'A capture that needs the buyer again is refused': [
    captured('PAYER_ACTION_REQUIRED'),
    'refused PAYER_ACTION_REQUIRED',
  ],
  'A capture whose reply says nothing has an unknown outcome': ['{}', 'outcome_unknown unreadable_reply'],
};
for (const [title, [body, outcome]] of Object.entries(outcomes)) {
  test(title, async (t) => {
    const { client } = await givenReplies(t, { status: 201, body });
    const { capture } = makePayPalMaker({ client, now: () => start });
    const work = capture?.({ reference: '5O1', idempotencyKey: 'key' }) ?? Promise.reject(new Error('none'));
    t.is(await failureOf(work), outcome);
  });
}

test('A refund gives back a part once for each key, and never more than was paid', async (t) => {
  const { paypal, pay, capture, maker } = await givenMaker(t);
  const { reference } = await pay();
  const [order] = paypal.orders;
  if (order === undefined) throw new Error('no order');
  const refund = (amount: number, idempotencyKey: string) =>
    maker.refund?.({
      ...{ orderNumber: paymentRequest.orderNumber, transactionId: order.captureId, paid: dollars },
      ...{ amount: { amount, currency: 'USD' }, callbackUrl: paymentRequest.callbackUrl, idempotencyKey },
    }) ?? Promise.reject(new Error('no refund'));
  t.is(await failureOf(refund(400, 'refund-0')), 'refused RESOURCE_NOT_FOUND');
  paypal.approve(order);
  await capture(reference, 'capture');

  const first = await refund(400, 'refund-1');
  t.is(await refund(400, 'refund-1'), first);
  t.is(order.refunded, 400);
  t.is(await failureOf(refund(600, 'refund-2')), 'refused REFUND_AMOUNT_EXCEEDED');
});

test('The sandbox has another address', (t) => {
  t.is(paypalUrls.live, 'https://api-m.paypal.com');
  t.is(paypalUrls.sandbox, 'https://api-m.sandbox.paypal.com');
});
