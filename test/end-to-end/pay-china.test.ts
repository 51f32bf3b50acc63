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
  givenRefunds,
  refundNote,
} from '../support/platforms/paying-services.js';
import { givenFakeEpay } from '../support/platforms/fake-epay.js';

test('A buyer pays an order at WeChat Pay by a QR code, and gets what was bought', async (t) => {
  const { platform, service } = await givenWechatPayService(t);
  const granted = await service.capacity();
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
  await service.holds(granted + planBytes);
});

test('While WeChat Pay fails or is silent the call is 503, and the next one makes the one payment', async (t) => {
  const { platform, service } = await givenWechatPayService(t, 2_000);
  const order = await service.place();
  platform.will('fails', 'fails', 'is silent', 'is slow');
  for (let call = 0; call < 2; call += 1) {
    const away = await service.pay(order.path);
    t.deepEqual([away.status, away.json()['code']], [503, 'platform_unavailable']);
  }
  const made = await service.pay(order.path);
  t.is(made.status, 200, made.text);
  t.deepEqual(platform.orders(), [order.number]);
  t.is(new Set(platform.requests.map(({ body }) => body)).size, 1);
  // and the log names the outcome, and no address or key
  t.true(service.lines.some((line) => line.includes('wechatpay did not make a payment: outcome_unknown')));
  for (const secret of ['weixin://', secrets.wechatpayApiV3Key])
    t.false(service.lines.join('').includes(secret));
});

test('A buyer pays an order at Alipay at a signed address, and gets what was bought', async (t) => {
  const { platform, service } = await givenAlipayService(t);
  const granted = await service.capacity();
  const order = await service.place();

  const made = await service.pay(order.path);
  t.is(made.status, 200, made.text);
  t.deepEqual(platform.requests, []);
  t.is(await browse(textOf(made.json(), 'url')), 'pay 69.00');
  t.is(await service.deliver(platform.pay(order.number)), 200);
  await service.becomes(order.path, 'fulfilled');
  await service.holds(granted + planBytes);
  const paid = await service.pay(order.path);
  t.deepEqual([paid.status, paid.json()['code']], [409, 'conflict']);
});

test('An operator gives back a payment at WeChat Pay in two parts, and the grant ends with the second', async (t) => {
  // Given a paid order
  const { platform, service } = await givenWechatPayService(t, 2_000);
  const granted = await service.capacity();
  const order = await service.place();
  t.is((await service.pay(order.path)).status, 200);
  t.is(await service.deliver(platform.pay(order.number)), 200);
  await service.becomes(order.path, 'fulfilled');
  const { refund, refused } = await givenRefunds(t, service, order.id);

  // When a part goes back, with a failure and a lost reply, then WeChat Pay makes one refund, and its callback counts it
  platform.will('is silent', 'is slow');
  t.deepEqual(await refused('one', 1_900), [503, 'platform_unavailable']);
  const first = await refund('one', 1_900);
  const firstId = textOf(first, 'refund_id');
  t.deepEqual(platform.refundsOf(order.number), [firstId]);
  t.like(await service.read(order.path), { status: 'fulfilled', refunded_amount: 0 });
  const callback = platform.reportRefund(order.number, firstId);
  for (const delivery of [callback, callback]) t.is(await service.deliver(delivery), 200);
  t.like(await service.becomes(order.path, 'partially_refunded'), { refunded_amount: 1_900 });
  await service.holds(granted + planBytes);

  // When more than the rest is asked for, then WeChat Pay is not asked; the rest ends the grant
  t.deepEqual(await refused('two', 5_001), [409, 'conflict']);
  const rest = await refund('three');
  t.like(rest, { amount: 5_000, currency: 'CNY', transaction_id: first['transaction_id'] });
  t.is(platform.refundsOf(order.number).length, 2);
  t.is(await service.deliver(platform.reportRefund(order.number, textOf(rest, 'refund_id'))), 200);
  t.like(await service.becomes(order.path, 'refunded'), { refunded_amount: 6_900 });
  await service.holds(granted);
  t.false(service.lines.join('').includes(refundNote));
});

test('An operator gives back a payment at Alipay in two parts, and the grant ends with the second', async (t) => {
  const { platform, service } = await givenAlipayService(t);
  const granted = await service.capacity();
  const order = await service.place();
  await browse(textOf((await service.pay(order.path)).json(), 'url'));
  t.is(await service.deliver(platform.pay(order.number)), 200);
  await service.becomes(order.path, 'fulfilled');
  const { refund, refused } = await givenRefunds(t, service, order.id);

  // Given a gateway that fails twice, when a part goes back, then Alipay makes one refund, and its notification counts it
  platform.will('fails', 'fails');
  t.deepEqual(await refused('one', 1_900), [503, 'platform_unavailable']);
  const first = await refund('one', 1_900);
  const firstId = textOf(first, 'refund_id');
  t.deepEqual(platform.refundsOf(order.number), { [firstId]: 1_900 });
  t.is(await service.deliver(platform.reportRefund(order.number)), 200);
  t.like(await service.becomes(order.path, 'partially_refunded'), { refunded_amount: 1_900 });
  await service.holds(granted + planBytes);

  t.deepEqual(await refused('two', 5_001), [409, 'conflict']);
  const rest = await refund('three');
  t.deepEqual(Object.values(platform.refundsOf(order.number)), [1_900, 5_000]);
  t.like(rest, { amount: 5_000, currency: 'CNY' });
  t.is(await service.deliver(platform.reportRefund(order.number)), 200);
  t.like(await service.becomes(order.path, 'refunded'), { refunded_amount: 6_900 });
  await service.holds(granted);
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
  const granted = await service.capacity();
  const order = await service.place();
  const made = (await service.pay(order.path)).json();
  t.like(made, { provider: 'epay', kind: 'form', url: `${url}/submit.php` });
  const fields = asObject(made['fields']) as Readonly<Record<string, string>>;
  t.is(await browse(textOf(made, 'url'), fields), 'pay 69.00');
  t.is(await service.deliver(platform.pay(order.number)), 200);
  await service.becomes(order.path, 'fulfilled');
  await service.holds(granted + planBytes);
});
