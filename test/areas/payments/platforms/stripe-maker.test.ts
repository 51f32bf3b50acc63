import test from 'ava';
import type { Money } from '../../../../src/areas/payments/domain/fact.js';
import { stripeAmount } from '../../../../src/areas/payments/platforms/money.js';
import { PlatformError } from '../../../../src/areas/payments/platforms/payment-maker.js';
import { makeStripeClient } from '../../../../src/areas/payments/platforms/stripe/stripe-client.js';
import { makeStripeMaker } from '../../../../src/areas/payments/platforms/stripe/stripe-maker.js';
import { givenStripe, stripeKey } from '../../../support/platforms/fake-stripe.js';
import type { ExecutionContext } from 'ava';
import { makeTestCall, paymentRequest } from './makers/given-makers.js';

const now = new Date('2026-05-06T07:08:09.000Z');
const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

async function givenMaker(t: ExecutionContext) {
  const stripe = await givenStripe(t, { now: () => now });
  const client = makeStripeClient({ secretKey: stripeKey }, { call: makeTestCall(), baseUrl: stripe.url });
  const maker = makeStripeMaker(client, () => now);
  let keys = 0;
  return {
    stripe,
    maker,
    pay: (price: Money, expiresAt = inMinutes(60)) =>
      maker.makePayment({ ...paymentRequest, price, expiresAt, idempotencyKey: `key-${(keys += 1)}` }),
  };
}

test('Stripe gets the price in its units of the currency', async (t) => {
  const { stripe, pay } = await givenMaker(t);
  const prices: readonly (readonly [Money, number])[] = [
    [{ amount: 1_230, currency: 'EUR' }, 1_230],
    [{ amount: 500, currency: 'JPY' }, 500],
    [{ amount: 500, currency: 'ISK' }, 50_000],
    [{ amount: 500, currency: 'UGX' }, 50_000],
    [{ amount: 12_340, currency: 'KWD' }, 12_340],
    [{ amount: 1_200, currency: 'MGA' }, 12],
  ];
  for (const [price, units] of prices) {
    await pay(price);
    const session = stripe.sessions.at(-1);
    t.like(session, { amount: units, currency: price.currency.toLowerCase() });
    // The callback of the payment reads back the price.
    t.deepEqual(stripeAmount(units, price.currency), price);
  }
});

test('A price that Stripe cannot express, and an order that ends too soon for a session, are refused unasked', async (t) => {
  const { stripe, pay } = await givenMaker(t);
  const refused = { instanceOf: PlatformError, code: 'amount_not_payable' };
  await t.throwsAsync(pay({ amount: 1_234, currency: 'MGA' }), refused);
  const price = { amount: 999, currency: 'USD' };
  await t.throwsAsync(pay(price, inMinutes(31.9)), { code: 'order_expires_too_soon' });
  t.is(stripe.requests.length, 0);
  await pay(price, inMinutes(32));
  await pay(price, inMinutes(24 * 60));
  t.is(stripe.sessions.length, 2);
});

test('An order that expires within a second gets a session that ends at a whole second', async (t) => {
  const { pay } = await givenMaker(t);
  const { expiresAt } = await pay({ amount: 999, currency: 'USD' }, new Date(inMinutes(60).getTime() + 755));
  t.deepEqual(expiresAt, inMinutes(59));
});

test('A session ends before its order does', async (t) => {
  const { pay } = await givenMaker(t);
  const { expiresAt, reference, kind } = await pay({ amount: 999, currency: 'USD' });
  t.deepEqual([kind, reference, expiresAt], ['redirect', 'cs_test_1', inMinutes(59)]);
});
