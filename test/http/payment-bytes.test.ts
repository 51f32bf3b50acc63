import { createHmac } from 'node:crypto';
import test from 'ava';
import { makeStripe } from '../../src/integrations/payments/stripe.js';
import { makePaymentPlatforms } from '../support/payment-platforms.js';
import { startTestService } from '../support/http-service.js';

/* Parsers that go before a verifier hand on a text that they have decoded, or nothing: bodies over real HTTP that such a text would lose. */

const secret = 'whsec_TestOnly0123456789';
const path = '/api/v1/payment/webhooks';

test('what is signed are the bytes that were sent, whatever they are and whatever type they claim', async (t) => {
  // Given an order by Stripe
  const providers = new Map([['stripe', makeStripe({ secrets: [secret], livemode: undefined })]] as const);
  const { ask, clock, commands, get, post, signUp } = await startTestService(t, {
    paymentProviders: providers,
  });
  const buyer = await signUp('buyer');
  const request = { plan_id: 'capacity-100g', provider: 'stripe' };
  const order = (await post('/api/v1/orders', request, buyer)).json as { id: string; number: string };
  const send = async (body: Buffer, type: string): Promise<number> => {
    const time = Math.floor(clock.now().getTime() / 1_000);
    const mac = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
    const headers = { 'stripe-signature': `t=${time},v1=${mac}`, 'content-type': type };
    return (await ask(`${path}/stripe`, { method: 'POST', body, headers })).status;
  };
  const event = (id: string) =>
    JSON.stringify(
      {
        ...{
          id,
          object: 'event',
          type: 'checkout.session.completed',
          livemode: true,
          created: 1_767_323_000,
        },
        data: {
          object: {
            ...{ id: 'cs_1', payment_intent: 'pi_1', payment_status: 'paid', amount_total: 999 },
            ...{ currency: 'usd', client_reference_id: order.number, customer: 'Größe 空间' },
          },
        },
      },
      null,
      2,
    );

  // When it comes indented, with a byte order mark, in no UTF-8, under any type, Then it is believed, and what cannot be read is kept
  t.is(await send(Buffer.from(`\r\n${event('evt_1')}\r\n`), 'application/json'), 200);
  t.like((await get(`/api/v1/orders/${order.id}`, buyer)).json, { status: 'paid' });
  t.is(await send(Buffer.from(`\ufeff${event('evt_2')}`), 'text/plain; charset=utf-16'), 200);
  t.is(await send(Buffer.from(event('evt_3'), 'latin1'), 'application/json; charset=iso-8859-1'), 200);
  t.is(await send(Buffer.from([0x00, 0xff, 0xfe]), 'application/x-www-form-urlencoded'), 200);
  t.is(await send(Buffer.alloc(0), 'application/json'), 200);
  const kept = await commands.paymentCallbacks.unmatched({ limit: 9 });
  t.deepEqual(
    kept.map(({ reason }) => reason),
    ['unreadable', 'unreadable', 'unreadable'],
  );
});

test('a form that is larger than parsers of forms take is read', async (t) => {
  const { alipay } = makePaymentPlatforms('ours');
  const { clock, get, post, send, signUp } = await startTestService(t, {
    paymentProviders: new Map([['alipay', alipay.provider]] as const),
  }).then((service) => ({
    ...service,
    send: (body: string) => service.ask(`${path}/alipay`, { method: 'POST', body }),
  }));
  const buyer = await signUp('buyer');
  const request = { plan_id: 'capacity-100g', provider: 'alipay' };
  const order = (await post('/api/v1/orders', request, buyer)).json as { id: string; number: string };
  const payment = { orderNumber: order.number, transaction: 'tx12345678', amount: 6_900, currency: 'CNY' };
  const { body } = alipay.pay(payment, clock.now());
  // Parameters that are empty may stand unsigned: co-body would take 56 KiB.
  const padding = Array.from({ length: 50 }, (_, n) => `${'p'.repeat(2_000)}${n}=`).join('&');
  const answer = await send(`${body}&${padding}`);
  t.deepEqual([answer.status, answer.text], [200, 'success']);
  t.like((await get(`/api/v1/orders/${order.id}`, buyer)).json, { status: 'paid' });
});

test('a person who returns from Alipay with a query in GBK is shown to the verifier', async (t) => {
  const { alipay } = makePaymentPlatforms('ours');
  const { ask } = await startTestService(t, {
    paymentProviders: new Map([['alipay', alipay.provider]] as const),
  });
  // 空间
  const { status } = await ask(`${path}/alipay?charset=GBK&subject=%bf%d5%bc%e4`);
  t.is(status, 401, 'it is not signed, and no more is wrong with it');
});
