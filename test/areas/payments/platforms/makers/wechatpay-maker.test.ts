import test from 'ava';
import { refusalOf } from '../../../../../src/areas/payments/platforms/calls/platform-calls.js';
import { arrivesAt, merchant, order } from '../messages/messages.js';
import { makeWechatPayMaker } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-maker.js';
import {
  factsOf,
  failureOf,
  givenWechatPay,
  merchantKeys,
  paymentRequest,
  platformKeys,
  refundOf,
} from './given-makers.js';
import { pluck } from '../../../../support/given/pluck.js';

const paid = { kind: 'paid', amount: 6_900, currency: 'CNY' };
const trade = `42000000${order}`;

for (const [name, subMchId] of [
  ['A merchant', null],
  ['A service provider', '1900007777'],
] as const) {
  test(`${name} makes a QR code that pays the order, and refunds it in two parts`, async (t) => {
    // given
    const { platform, maker, provider } = await givenWechatPay(t, subMchId);
    // when
    const made = await maker.makePayment(paymentRequest);
    // then
    t.deepEqual(made, {
      kind: 'qr',
      url: `weixin://wxpay/bizpayurl?pr=${order.slice(-8)}`,
      expiresAt: new Date(arrivesAt.getTime() + 7_200_000),
      reference: null,
    });
    t.deepEqual(await factsOf(provider, platform.pay(order)), {
      isOurs: true,
      facts: [{ order_number: order, fact: paid }],
    });
    // when
    t.is(await maker.refund?.(refundOf(trade, 1_900, 'refund-1')), 'refund-1');
    t.is(await maker.refund?.(refundOf(trade, 1_900, 'refund-1')), 'refund-1');
    await maker.refund?.(refundOf(trade, 5_000, 'refund-2'));
    // then
    t.deepEqual(platform.refundsOf(order), ['refund-1', 'refund-2']);
    const { facts } = await factsOf(provider, platform.reportRefund(order, 'refund-1'));
    t.deepEqual(facts, [
      {
        order_number: order,
        fact: { kind: 'refund', refund_id: 'refund-1', status: 'succeeded', amount: 1_900, currency: 'CNY' },
      },
    ]);
    t.is(
      await failureOf(maker.refund?.(refundOf(trade, 1, 'refund-3')) ?? Promise.resolve()),
      'unavailable NOT_ENOUGH',
    );
  });
}

test('A refund that WeChat Pay cannot make to the account of the buyer is refused, and waits for no answer', async (t) => {
  const answers = async (status: number, code: string) => {
    const client = () => Promise.reject(refusalOf(status, [code]));
    const maker = makeWechatPayMaker({
      ...{ merchant: { ...merchant.wechatpay, subMchId: null }, client, now: () => arrivesAt },
    });
    return failureOf(maker.refund?.(refundOf(trade, 1, 'refund-1')) ?? Promise.resolve());
  };
  t.is(await answers(403, 'USER_ACCOUNT_ABNORMAL'), 'refused USER_ACCOUNT_ABNORMAL');
  t.is(await answers(403, 'NO_AUTH'), 'unavailable NO_AUTH');
  t.is(await answers(400, 'PARAM_ERROR'), 'refused PARAM_ERROR');
});

test('A buyer with a phone gets a link that leads back to the shop', async (t) => {
  const { platform, maker } = await givenWechatPay(t);
  const made = await maker.makePayment({ ...paymentRequest, isMobile: true });
  t.is(made.kind, 'redirect');
  t.true(made.url.endsWith('&redirect_url=https%3A%2F%2Fshop.example.org%2Fthanks%3Forder%3D1'));
  t.deepEqual(made.expiresAt, new Date(arrivesAt.getTime() + 300_000));
  const { scene_info } = JSON.parse(platform.requests[0]?.body ?? '') as { readonly scene_info: unknown };
  t.deepEqual(scene_info, { payer_client_ip: '203.0.113.7', h5_info: { type: 'Wap' } });
});

test('The platform makes one payment of an order, however often it is asked and however it answers', async (t) => {
  const { platform, maker } = await givenWechatPay(t);
  // when: the first request is done, but its reply never comes, and then the platform fails once
  platform.will('drops', 'fails');
  t.is(await failureOf(maker.makePayment(paymentRequest)), 'outcome_unknown connection_failed');
  platform.will('fails');
  const made = await maker.makePayment(paymentRequest);
  // then
  t.is(made.kind, 'qr');
  t.deepEqual(platform.orders(), [order]);
  t.is(new Set(pluck(platform.requests, 'body')).size, 1);
});

test('A platform that is silent, slow or fails leaves the outcome unknown', async (t) => {
  const { platform, maker } = await givenWechatPay(t);
  platform.will('is silent', 'is slow');
  t.is(await failureOf(maker.makePayment(paymentRequest)), 'outcome_unknown connection_timeout');
  platform.will('fails', 'fails');
  t.is(await failureOf(maker.makePayment(paymentRequest)), 'outcome_unknown status_500');
  t.deepEqual(platform.orders(), [order]);
  t.is(platform.requests.length, 4);
});

test('The platform refuses another price of the same order, and a wrong signature', async (t) => {
  const { maker, makeClient } = await givenWechatPay(t);
  await maker.makePayment(paymentRequest);
  const price = { amount: 1, currency: 'CNY' };
  t.is(await failureOf(maker.makePayment({ ...paymentRequest, price })), 'refused INVALID_REQUEST');
  const now = (): Date => arrivesAt;
  const client = makeClient(platformKeys.privateKey);
  const other = makeWechatPayMaker({ merchant: merchant.wechatpay, client, now });
  t.is(await failureOf(other.makePayment(paymentRequest)), 'unavailable SIGN_ERROR');
  const dollars = { amount: 1, currency: 'USD' };
  t.is(await failureOf(maker.makePayment({ ...paymentRequest, price: dollars })), 'refused currency');
});

test('A query at WeChat Pay reports what became of an order', async (t) => {
  const { platform, maker } = await givenWechatPay(t);
  const query = async () => {
    const queried = await maker.query(order);
    if (queried.kind === 'unknown') return queried.kind;
    const { isOurs, notifications } = queried.report;
    return { isOurs, facts: notifications.map(({ fact }) => fact) };
  };
  t.is(await query(), 'unknown');
  await maker.makePayment(paymentRequest);
  t.is(await query(), 'unknown');
  platform.pay(order);
  t.deepEqual(await query(), { isOurs: true, facts: [paid] });
  platform.end(order, 'CLOSED');
  t.deepEqual(await query(), { isOurs: true, facts: [{ kind: 'expired' }] });
  platform.end(order, 'PAYERROR');
  t.deepEqual(await query(), { isOurs: true, facts: [{ kind: 'failed' }] });
});

test('A query of a refunded order at WeChat Pay reports that its refunds are unknown, and no payment', async (t) => {
  // given an order that was paid and refunded in part
  const { platform, maker } = await givenWechatPay(t);
  await maker.makePayment(paymentRequest);
  platform.pay(order);
  await maker.refund?.(refundOf(trade, 1, 'refund-1'));
  // when
  const queried = await maker.query(order);
  // then
  if (queried.kind !== 'refunded') return t.fail(`the order is ${queried.kind}`);
  t.is(queried.transactionId, trade);
  t.deepEqual(pluck(queried.report.notifications, 'fact'), [{ kind: 'unreadable', field: 'refunds' }]);
});

for (const subMchId of [null, '1900007777']) {
  test(`A query of a refund at WeChat Pay reports its end (${subMchId ?? 'direct'})`, async (t) => {
    // given
    const { platform, maker, provider } = await givenWechatPay(t, subMchId);
    const asked = { orderNumber: order, transactionId: trade, refundId: 'refund-1' };
    const query = async () => {
      const queried = await maker.queryRefund(asked);
      return queried.kind === 'reported' ? queried.report.notifications : queried.kind;
    };
    t.is(await query(), 'unknown');
    await maker.makePayment(paymentRequest);
    platform.pay(order);
    await maker.refund?.(refundOf(trade, 1_900, 'refund-1'));
    // then a refund under way has no outcome
    t.is(await query(), 'unknown');
    const told = (status: string, at: string | null) => [
      {
        ...{ order_number: order, transaction_id: trade, at },
        fact: { kind: 'refund', refund_id: 'refund-1', status, amount: 1_900, currency: 'CNY' },
      },
    ];
    platform.endRefund(order, 'refund-1', 'ABNORMAL');
    t.deepEqual(await query(), told('pending', null) as never);
    platform.endRefund(order, 'refund-1', 'CLOSED');
    t.deepEqual(await query(), told('failed', null) as never);
    platform.endRefund(order, 'refund-1', 'SUCCESS');
    t.deepEqual(await query(), told('succeeded', '2026-01-02T04:04:05.000Z') as never);
    // and the fact is that of the callback
    const { facts } = await factsOf(provider, platform.reportRefund(order, 'refund-1'));
    t.deepEqual(facts, [{ order_number: order, fact: told('succeeded', null)[0]?.fact as never }]);
  });
}

test('A reply that the platform did not sign counts for nothing', async (t) => {
  const { maker, platform } = await givenWechatPay(t);
  const forged = await givenWechatPay(t, null, merchantKeys);
  t.is(await failureOf(forged.maker.makePayment(paymentRequest)), 'outcome_unknown reply_not_genuine');
  t.is((await maker.makePayment(paymentRequest)).kind, 'qr');
  t.deepEqual(platform.orders(), [order]);
  // A refusal needs no signature, and its error ends no process
  t.deepEqual(await forged.maker.query(`${order.slice(0, -1)}9`), { kind: 'unknown' });
});
