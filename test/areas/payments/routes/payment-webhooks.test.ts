import { createHmac } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { verifyStripe } from '../../../../src/areas/payments/platforms/stripe/stripe.js';
import { startTestService } from '../../../support/servers/http-service.js';
import { signed } from '../../../support/fakes/test-payment-provider.js';
import { makePaymentPlatforms } from '../../../support/clients/payment-platforms.js';
import { providerOf } from '../platforms/vectors/vectors.js';
import { pluck } from '../../../support/given/pluck.js';

const path = '/api/v1/payment/webhooks';

async function start(t: ExecutionContext, overrides: Parameters<typeof startTestService>[1] = {}) {
  const service = await startTestService(t, overrides);
  const send = (headers: Readonly<Record<string, string>> = {}, at = `${path}/standard`, key = 'm1') => {
    const message = signed({ key, told: [{ fact: { kind: 'nothing' } }] });
    return service.ask(at, { ...message, method: 'POST', headers: { ...message.headers, ...headers } });
  };
  const placeOrder = async (provider: string) => {
    const buyer = await service.signUp('buyer');
    const placed = await service.post('/api/v1/orders', { plan_id: 'capacity-100g', provider }, buyer);
    const { id, number } = placed.json as { id: string; number: string };
    return { number, read: async () => (await service.get(`/api/v1/orders/${id}`, buyer)).json };
  };
  return { ...service, send, placeOrder };
}

test('A genuine callback is taken with a header of an encoding over plain bytes, and at the path with a slash', async (t) => {
  const { ask, send } = await start(t);
  for (const [at, encoding] of ['', 'UTF-8', 'none', 'gzip'].entries()) {
    const sent = await send({ 'content-encoding': encoding }, `${path}/standard/`, `m${at}`);
    t.is(sent.status, 200, encoding);
  }
  t.is((await ask(`${path}/standard//`, { method: 'POST', body: Buffer.from('{}') })).status, 404);
});

test('Callbacks are served before the service is ready', async (t) => {
  const readiness = { serving: () => false, ready: () => ({ ok: false, reasons: ['not yet'] }) };
  const { send, get } = await start(t, { readiness });
  t.is((await send()).status, 200);
  t.is((await get('/api/v1/plans')).status, 503);
});

test('A callback is 503 after one attempt while the log is unavailable', async (t) => {
  const { send, stores } = await start(t);
  let tries = 0;
  const whole = { ...stores.eventStore };
  Object.assign(stores.eventStore, {
    append: () => {
      tries += 1;
      return Promise.reject(new StoreUnavailable('away'));
    },
  });
  t.is((await send()).status, 503);
  t.is(tries, 1);
  Object.assign(stores.eventStore, whole);
  t.is((await send()).status, 200);
});

/*
 * A parser in front of a verifier passes on decoded text, or nothing. These bodies, over real HTTP, would not survive
 * that.
 */

const secret = 'whsec_TestOnly0123456789';

test('The signature covers the sent bytes, with any content and type', async (t) => {
  // Given an order by Stripe
  const providers = new Map([
    ['stripe', providerOf('stripe', verifyStripe({ secrets: [secret], livemode: undefined }))],
  ] as const);
  const { ask, clock, commands, placeOrder } = await start(t, { paymentProviders: providers });
  const order = await placeOrder('stripe');
  const send = async (body: Buffer, type: string): Promise<number> => {
    const time = Math.floor(clock.now().getTime() / 1_000);
    const mac = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
    const headers = { 'stripe-signature': `t=${time},v1=${mac}`, 'content-type': type };
    return (await ask(`${path}/stripe`, { method: 'POST', body, headers })).status;
  };
  const event = (id: string) =>
    JSON.stringify(
      {
        ...{ id, object: 'event', type: 'checkout.session.completed' },
        ...{ livemode: true, created: 1_767_323_000 },
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

  // When it comes indented, with a byte order mark, not in UTF-8, under any type, then it is accepted, and unreadable
  // content is held
  t.is(await send(Buffer.from(`\r\n${event('evt_1')}\r\n`), 'application/json'), 200);
  t.like(await order.read(), { status: 'paid' });
  t.is(await send(Buffer.from(`\ufeff${event('evt_2')}`), 'text/plain; charset=utf-16'), 200);
  t.is(await send(Buffer.from(event('evt_3'), 'latin1'), 'application/json; charset=iso-8859-1'), 200);
  t.is(await send(Buffer.from([0x00, 0xff, 0xfe]), 'application/x-www-form-urlencoded'), 200);
  t.is(await send(Buffer.alloc(0), 'application/json'), 200);
  const kept = await commands.paymentCallbacks.unmatched({ limit: 9 });
  t.deepEqual(pluck(kept, 'reason'), ['unreadable', 'unreadable', 'unreadable']);
});

async function startAlipay(t: ExecutionContext) {
  const { alipay } = await makePaymentPlatforms('ours');
  return { ...(await start(t, { paymentProviders: new Map([['alipay', alipay.provider]]) })), alipay };
}

test('A form that is larger than the limits of form parsers is read', async (t) => {
  const { alipay, ask, clock, placeOrder } = await startAlipay(t);
  const order = await placeOrder('alipay');
  const payment = { orderNumber: order.number, transaction: 'tx12345678', amount: 6_900, currency: 'CNY' };
  const { body } = alipay.pay(payment, clock.now());
  // Empty parameters may be unsigned. The parser co-body would take 56 KiB.
  const padding = Array.from({ length: 30 }, (_, n) => `${'p'.repeat(2_000)}${n}=`).join('&');
  const answer = await ask(`${path}/alipay`, { method: 'POST', body: `${body}&${padding}` });
  t.deepEqual([answer.status, answer.text], [200, 'success']);
  t.like(await order.read(), { status: 'paid' });
});

test('The verifier receives a return from Alipay with a query in GBK', async (t) => {
  const { ask } = await startAlipay(t);
  // 空间
  const { status } = await ask(`${path}/alipay?charset=GBK&subject=%bf%d5%bc%e4`);
  t.is(status, 401, 'only the signature is missing');
});
