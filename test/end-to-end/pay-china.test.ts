import test from 'ava';
import { browse } from '../areas/payments/platforms/makers/given-makers.js';
import { merchant, secrets } from '../areas/payments/platforms/messages/messages.js';
import { asObject, textOf } from '../support/clients/service-client.js';
import {
  givenAlipayService,
  givenWechatPayService,
  isPhone,
  givenPayingService,
  planBytes,
} from '../support/platforms/paying-services.js';
import { givenFakeEpay } from '../support/platforms/fake-epay.js';

test('A buyer pays an order at WeChat Pay by a QR code, and gets what was bought', async (t) => {
  const { platform, service } = await givenWechatPayService(t);
  const order = await service.place();

  // When the buyer asks twice, then WeChat Pay makes one payment, for this order
  const first = await service.pay(order.path);
  t.is(first.status, 200, first.text);
  t.like(first.json(), { provider: 'wechatpay', kind: 'qr' });
  t.regex(textOf(first.json(), 'url'), /^weixin:\/\/wxpay\//);
  t.deepEqual((await service.pay(order.path)).json(), first.json());
  t.deepEqual(platform.orders(), [order.number]);
  t.is(platform.requests.length, 1);

  // When the buyer pays, then the callback grants what was bought, once
  const callback = platform.pay(order.number);
  t.is(await service.deliver(callback), 200);
  t.is(await service.deliver(callback), 200);
  await service.becomes(order.path, 'fulfilled');
  await service.holds(service.granted + planBytes);
});

test('A buyer pays an order at Alipay at a signed address, and gets what was bought', async (t) => {
  const { platform, service } = await givenAlipayService(t);
  const order = await service.place();

  const made = await service.pay(order.path);
  t.is(made.status, 200, made.text);
  t.deepEqual(platform.requests, []);
  t.is(await browse(textOf(made.json(), 'url')), 'pay 69.00');
  t.is(await service.deliver(platform.pay(order.number)), 200);
  await service.becomes(order.path, 'fulfilled');
  await service.holds(service.granted + planBytes);
  const paid = await service.pay(order.path);
  t.deepEqual([paid.status, paid.json()['code']], [409, 'conflict']);
});

test('A trade that ends at Alipay ends the order', async (t) => {
  const { platform, service } = await givenAlipayService(t);
  const order = await service.place();
  const made = await service.client.post(`${order.path}/pay`, {}, { ...service.headers, ...isPhone });
  const url = textOf(made.json(), 'url');
  t.is(new URL(url).searchParams.get('method'), 'alipay.trade.wap.pay');
  await browse(url);
  t.is(await service.deliver(platform.close(order.number)), 200);
  await service.becomes(order.path, 'expired');
});

test('A buyer posts the form of an epay gateway, pays, and gets what was bought', async (t) => {
  const [key] = secrets.epay;
  const { pid } = merchant.epay;
  const platform = await givenFakeEpay(t, { pid, key });
  // The certificate is for this host.
  const url = `https://openapi.alipay.com:${platform.port}`;
  const service = await givenPayingService(t, {
    provider: 'epay',
    url,
    environment: {
      PAYMENT_EPAY_ENABLED: 'true',
      PAYMENT_EPAY_PID: pid,
      PAYMENT_EPAY_KEYS: key,
      PAYMENT_EPAY_GATEWAY_URL: url,
    },
  });
  const order = await service.place();
  const made = (await service.pay(order.path)).json();
  t.like(made, { provider: 'epay', kind: 'form', url: `${url}/submit.php` });
  const fields = asObject(made['fields']) as Readonly<Record<string, string>>;
  t.is(await browse(textOf(made, 'url'), fields), 'pay 69.00');
  t.is(await service.deliver(platform.pay(order.number)), 200);
  await service.becomes(order.path, 'fulfilled');
  await service.holds(service.granted + planBytes);
});
