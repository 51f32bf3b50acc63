import { createHash } from 'node:crypto';
import test from 'ava';
import { makeEpayMaker, verifyEpay } from '../../../../../src/areas/payments/platforms/epay/epay.js';
import { givenFakeEpay } from '../../../../support/platforms/fake-epay.js';
import { merchant, order, secrets } from '../messages/messages.js';
import { browse, factsOf, failureOf, paymentRequest } from './given-makers.js';
import { providerOf } from '../vectors/vectors.js';

const [key, secondKey] = secrets.epay;
const { pid } = merchant.epay;

test('A buyer posts the form, pays, and the notification pays the order', async (t) => {
  // given
  const platform = await givenFakeEpay(t, { pid, key });
  // The certificate is for this host too.
  const gateway = `https://openapi.alipay.com:${platform.port}`;
  const maker = makeEpayMaker({ gateway, pid, key });
  // when
  const made = await maker.makePayment(paymentRequest);
  // then
  t.is(made.kind, 'form');
  if (made.kind !== 'form') return;
  t.is(made.fields['name'], '容量 100 GiB   more 1/2');
  t.is(await browse(made.url, made.fields), 'pay 69.00');
  t.deepEqual(platform.orders(), [order]);
  t.deepEqual(await factsOf(providerOf('epay', verifyEpay({ pid, keys: [key] })), platform.pay(order)), {
    isOurs: true,
    facts: [{ order_number: order, fact: { kind: 'paid', amount: 6_900, currency: 'CNY' } }],
  });
  // when
  const cheaper = { ...made.fields, money: '0.01' };
  // then
  t.is(await browse(made.url, cheaper), 'signature');
  t.is(maker.refund, undefined);
});

test('Without an address of the shop, buyers return to the service', async (t) => {
  const maker = makeEpayMaker({ gateway: 'https://pay.example.org/epay', pid, key: secondKey });
  const made = await maker.makePayment({ ...paymentRequest, returnUrl: null });
  t.is(made.url, 'https://pay.example.org/epay/submit.php');
  t.like(made, { fields: { return_url: 'https://stowage.example.org/' } });
  const price = { amount: 1, currency: 'EUR' };
  t.is(await failureOf(maker.makePayment({ ...paymentRequest, price })), 'refused currency');
});

test('No request for a payment is a callback, and no address of a buyer makes it one', async (t) => {
  // given a signed request whose address imitates the fields of a callback
  const address = 'https://shop.example/b?a=b';
  const returnUrl = `${address}&trade_no=2026X&trade_status=TRADE_SUCCESS`;
  const maker = makeEpayMaker({ gateway: 'https://pay.example.org/epay', pid, key });
  // then the service signs no such address
  t.is(
    await failureOf(maker.makePayment({ ...paymentRequest, returnUrl })),
    'refused return_url_with_several_parameters',
  );
  // and a callback with the fields of a request is refused, though its signature is right
  const fields: Readonly<Record<string, string>> = {
    ...{ money: '69.00', name: 'plan', notify_url: 'https://stowage.example.org/x', out_trade_no: order },
    ...{ pid, return_url: address, trade_no: '2026X', trade_status: 'TRADE_SUCCESS' },
  };
  const text = Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const sign = createHash('md5').update(text).update(key).digest('hex');
  for (const hidden of [[], ['notify_url', 'return_url'], ['notify_url'], ['return_url']]) {
    const form = new Map<string, string>();
    let last = '';
    for (const [name, value] of Object.entries(fields)) {
      if (hidden.includes(name)) form.set(last, `${form.get(last) ?? ''}&${name}=${value}`);
      else form.set((last = name), value);
    }
    const query = new URLSearchParams([...form, ['sign', sign], ['sign_type', 'MD5']]).toString();
    const callback = {
      method: 'GET',
      headers: {},
      body: Buffer.alloc(0),
      query,
      receivedAt: new Date(),
    } as const;
    t.deepEqual(await providerOf('epay', verifyEpay({ pid, keys: [key] })).verify(callback), {
      kind: 'refused',
      reason: 'malformed',
    });
  }
});
