import { createHmac } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { reportKeyOf, transactionStreamId } from '../../../../src/areas/payments/domain/payment-ids.js';
import { verifyStripe } from '../../../../src/areas/payments/platforms/stripe/stripe.js';
import { acceptedReports } from '../../../support/given/accepted-reports.js';
import { startTestService } from '../../../support/servers/http-service.js';
import {
  makeTestPaymentProvider,
  signed,
  type TestMessage,
} from '../../../support/fakes/test-payment-provider.js';
import { makePaymentPlatforms } from '../../../support/clients/payment-platforms.js';
import { providerOf } from '../platforms/vectors/vectors.js';

const path = '/api/v1/payment/webhooks';
const paid = { kind: 'paid', amount: 999, currency: 'USD' } as const;

async function start(t: ExecutionContext, overrides: Parameters<typeof startTestService>[1] = {}) {
  const paymentProviders = new Map([
    ['standard', makeTestPaymentProvider()],
    ['wechatpay', makeTestPaymentProvider()],
    ['epay', makeTestPaymentProvider({ get: 'settles' })],
    ['alipay', makeTestPaymentProvider({ get: 'shows' })],
  ] as const);
  const service = await startTestService(t, { paymentProviders, ...overrides });
  const send = (message: TestMessage, provider = 'standard', headers = {}) => {
    const { body, headers: signature } = signed(message);
    return service.ask(`${path}/${provider}`, {
      method: 'POST',
      body,
      headers: { ...signature, ...headers },
    });
  };
  const placeOrder = async () => {
    const buyer = await service.signUp('buyer');
    const placed = await service.post(
      '/api/v1/orders',
      { plan_id: 'capacity-100g', provider: 'standard' },
      buyer,
    );
    const { id, number } = placed.json as { id: string; number: string };
    const read = async () => (await service.get(`/api/v1/orders/${id}`, buyer)).json as { status: string };
    return { id, number, read };
  };
  const reportOf = async (key: string, provider: 'standard' | 'epay' | 'alipay' = 'standard') => {
    const [id] = await acceptedReports(service.stores.eventStore, reportKeyOf(provider, key));
    return id === undefined ? null : service.commands.paymentCallbacks.find(id);
  };
  return { ...service, send, placeOrder, reportOf };
}

test("A callback pays its order and gets the platform's acknowledgement, even when repeated", async (t) => {
  const { send, placeOrder, reportOf, stores } = await start(t);
  const order = await placeOrder();
  const message = { key: 'm1', told: [{ number: order.number, transaction: 't1', fact: paid }] };
  for (const type of ['application/json', 'text/plain', 'x/y; z']) {
    const answer = await send(message, 'standard', { 'content-type': type });
    t.is(answer.status, 200, answer.text);
    t.is(answer.text, 'noted');
    t.is(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  }
  t.like(await order.read(), {
    status: 'paid',
    payments: [{ provider: 'standard', transaction_id: 't1', kind: 'paid', amount: 999, currency: 'USD' }],
  });
  t.like(await reportOf('m1'), { disposition: 'applied', held: null });
  const { events } = await stores.eventStore.readAll({ after: null, limit: 1_000 });
  t.deepEqual(
    events.map(({ type }) => type).filter((type) => /Payment|Transaction/.test(type)),
    ['PaymentReported', 'PaymentCaptured'],
  );
});

test('A genuine callback is taken with a header of an encoding over plain bytes, and at the path with a slash', async (t) => {
  const { ask } = await start(t);
  for (const [at, encoding] of ['', 'UTF-8', 'none', 'gzip'].entries()) {
    const { body, headers } = signed({ key: `m${at}`, told: [{ fact: { kind: 'nothing' } }] });
    const sent = { method: 'POST', body, headers: { ...headers, 'content-encoding': encoding } };
    t.is((await ask(`${path}/standard/`, sent)).status, 200, encoding);
  }
  t.is((await ask(`${path}/standard//`, { method: 'POST', body: Buffer.from('{}') })).status, 404);
});

test('A bad signature is 401 and touches no store', async (t) => {
  const { ask, send, stores } = await start(t);
  const before = await stores.eventStore.head();
  const { body, headers } = signed({ key: 'm1', told: [] });
  for (const forged of [
    { body: Buffer.concat([body, Buffer.from(' ')]), headers },
    { body, headers: { 'x-signature': 'x' } },
    { body, headers: {} },
  ]) {
    const answer = await ask(`${path}/standard`, { method: 'POST', ...forged });
    t.is(answer.status, 401);
    t.is((answer.json as { code: string }).code, 'invalid_signature');
  }
  t.is(await stores.eventStore.head(), before);
  const failed = await ask(`${path}/wechatpay`, { method: 'POST', body, headers: {} });
  t.is(failed.status, 401);
  t.is((JSON.parse(failed.text) as { code: string }).code, 'FAIL');
  t.is((await send({ key: 'm2', told: [] }, 'wechatpay')).status, 200);
});

test('Unknown platforms are 404, unconfigured ones 503, and large and encoded bodies 413 and 415', async (t) => {
  const { ask } = await start(t);
  const post = async (provider: string, body: Buffer, headers = {}) => {
    const answer = await ask(`${path}/${provider}`, { method: 'POST', body, headers });
    return `${answer.status} ${(answer.json as { code: string }).code}`;
  };
  const bytes = Buffer.from('{}');
  t.is(await post('square', bytes), '404 not_found');
  t.is(await post('stripe', bytes), '503 provider_not_configured');
  t.is(await post('standard', bytes, { 'content-encoding': 'gzip' }), '415 unsupported_media_type');
  t.is(await post('standard', Buffer.alloc(256 * 1024)), '401 invalid_signature');
  t.is(await post('standard', Buffer.alloc(256 * 1024 + 1)), '413 payload_too_large');
});

test('Callbacks are served before the service is ready', async (t) => {
  const readiness = { serving: () => false, ready: () => ({ ok: false, reasons: ['not yet'] }) };
  const { send, get } = await start(t, { readiness });
  t.is((await send({ key: 'm1', told: [{ fact: { kind: 'nothing' } }] })).status, 200);
  t.is((await get('/api/v1/plans')).status, 503);
});

test('GET settles, shows or does nothing by the platform, and HEAD does nothing', async (t) => {
  const { ask, get, placeOrder, reportOf } = await start(t);
  const order = await placeOrder();
  const { body, headers } = signed({
    key: 'm1',
    told: [{ number: order.number, transaction: 't1', fact: paid }],
  });
  const query = `?${new URLSearchParams({ m: body.toString() }).toString()}`;
  t.is((await get(`${path}/square`)).status, 404);
  for (const provider of ['stripe', 'epay', 'standard']) {
    const bare = await get(`${path}/${provider}`);
    t.is(bare.status, 200);
    t.deepEqual(bare.json, { code: 'ok', message: 'ok' });
  }
  t.deepEqual((await get(`${path}/standard${query}`)).json, { code: 'ok', message: 'ok' });
  t.is((await get(`${path}/epay${query}`)).status, 401);
  t.is((await ask(`${path}/epay${query}`, { method: 'HEAD', headers })).status, 200);
  t.is((await get(`${path}/alipay${query}`, headers)).text, '{"code":"ok","message":"ok"}');
  t.is(await reportOf('m1', 'alipay'), null);
  t.is(await reportOf('m1', 'epay'), null);
  t.is((await get(`${path}/epay${query}`, headers)).text, 'noted');
  t.like(await reportOf('m1', 'epay'), { disposition: 'mismatch', order_id: order.id });
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
  const answer = await send({ key: 'm1', told: [{ fact: { kind: 'nothing' } }] });
  t.is(answer.status, 503);
  t.is(tries, 1);
  Object.assign(stores.eventStore, whole);
  t.is((await send({ key: 'm1', told: [{ fact: { kind: 'nothing' } }] })).status, 200);
});

test('A callback of an unknown order is held and acknowledged, and other content under its key is reported', async (t) => {
  const { send, reportOf, commands } = await start(t);
  const told = [{ number: 'not-ours', transaction: 't9', fact: paid }];
  t.is((await send({ key: 'm1', told })).status, 200);
  t.like(await reportOf('m1'), { held: 'unknown_order', disposition: null });
  t.is((await send({ key: 'm1', told: [...told, ...told] })).status, 200);
  t.deepEqual(commands.notices, [`conflict ${transactionStreamId('standard', 't9')}@0`]);
  const { items } = { items: await commands.paymentCallbacks.unmatched({ limit: 5 }) };
  t.like(items[0], { provider: 'standard', reason: 'unknown_order' });
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

  // When it comes indented, with a byte order mark, not in UTF-8, under any type, then it is accepted, and unreadable
  // content is held
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

test('A form that is larger than the limits of form parsers is read', async (t) => {
  const { alipay } = await makePaymentPlatforms('ours');
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
  // Empty parameters may be unsigned. The parser co-body would take 56 KiB.
  const padding = Array.from({ length: 30 }, (_, n) => `${'p'.repeat(2_000)}${n}=`).join('&');
  const answer = await send(`${body}&${padding}`);
  t.deepEqual([answer.status, answer.text], [200, 'success']);
  t.like((await get(`/api/v1/orders/${order.id}`, buyer)).json, { status: 'paid' });
});

test('The verifier receives a return from Alipay with a query in GBK', async (t) => {
  const { alipay } = await makePaymentPlatforms('ours');
  const { ask } = await startTestService(t, {
    paymentProviders: new Map([['alipay', alipay.provider]] as const),
  });
  // 空间
  const { status } = await ask(`${path}/alipay?charset=GBK&subject=%bf%d5%bc%e4`);
  t.is(status, 401, 'only the signature is missing');
});
