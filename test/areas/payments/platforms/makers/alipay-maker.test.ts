import test from 'ava';
import { makeAlipayClient } from '../../../../../src/areas/payments/platforms/alipay/alipay-client.js';
import { order } from '../messages/messages.js';
import {
  browse,
  factsOf,
  failureOf,
  givenAlipay,
  merchantKeys,
  paymentRequest,
  refundOf,
} from './given-makers.js';
import { pluck } from '../../../../support/given/pluck.js';

const paid = { kind: 'paid', amount: 6_900, currency: 'CNY' };

const trade = `2026010222${order}`;

for (const isMobile of [false, true]) {
  test(`A buyer with a ${isMobile ? 'phone' : 'computer'} pays at a signed address, which needs no call`, async (t) => {
    // given
    const { platform, maker, provider } = await givenAlipay(t);
    // when
    const made = await maker.makePayment({ ...paymentRequest, isMobile });
    // then
    t.deepEqual(platform.requests, []);
    t.is(made.kind, 'redirect');
    t.deepEqual(made.expiresAt, paymentRequest.expiresAt);
    // when
    t.is(await browse(made.url), 'pay 69.00');
    t.is(await browse(made.url), 'pay 69.00');
    // then
    t.deepEqual(platform.trades(), [order]);
    t.deepEqual(await factsOf(provider, platform.pay(order)), {
      isOurs: true,
      facts: [{ order_number: order, fact: paid }],
    });
  });
}

test('The gateway refuses an address whose amount was changed', async (t) => {
  const { maker } = await givenAlipay(t);
  const { url } = await maker.makePayment({ ...paymentRequest, returnUrl: null });
  t.regex(await browse(url.replace('69.00', '09.00')), /isv\.invalid-signature/);
  t.is(await browse(url), 'pay 69.00');
});

test('A refund in two parts is made once under each key, and is confirmed', async (t) => {
  // given
  const { platform, maker, provider } = await givenAlipay(t);
  const { url } = await maker.makePayment(paymentRequest);
  await browse(url);
  platform.pay(order);
  // when: the reply of the first try never comes
  platform.will('drops');
  const first = await maker.refund?.(refundOf(trade, 1_900, 'refund-1'));
  // then: the second try finds it done, so Alipay says that no money moved now
  t.is(first, 'refund-1');
  t.is(await maker.refund?.(refundOf(trade, 5_000, 'refund-2')), 'refund-2');
  t.deepEqual(platform.refundsOf(order), { 'refund-1': 1_900, 'refund-2': 5_000 });
  const { facts } = await factsOf(provider, platform.reportRefund(order));
  t.deepEqual(pluck(facts, 'fact'), [
    paid,
    { kind: 'refunded-in-total', amount: 6_900, currency: 'CNY' },
  ] as never);
  const more = maker.refund?.(refundOf(trade, 1, 'refund-3')) ?? Promise.resolve();
  t.is(await failureOf(more), 'refused ACQ.REFUND_AMT_NOT_EQUAL_TOTAL');
});

test('A query at Alipay reports what became of an order', async (t) => {
  const { platform, maker } = await givenAlipay(t);
  const query = async () => {
    const queried = await maker.query(order);
    return queried.kind === 'unknown'
      ? 'unknown'
      : queried.report.notifications.map(({ fact, at }) => ({ fact, at }));
  };
  const payment = { fact: paid, at: '2026-01-02T03:04:05.000Z' };
  t.is(await query(), 'unknown');
  await browse((await maker.makePayment(paymentRequest)).url);
  t.is(await query(), 'unknown');
  platform.pay(order);
  t.deepEqual(await query(), [payment] as never);
  await maker.refund?.(refundOf(trade, 6_900, 'refund-1'));
  // The reply has no time of the refund. That of the payment would put it before each partial refund.
  const refund = { kind: 'refunded-in-total', amount: 6_900, currency: 'CNY' };
  t.deepEqual(await query(), [payment, { fact: refund, at: null }] as never);
});

test('A query of a refund at Alipay reports it once the money has moved', async (t) => {
  // given
  const { platform, maker } = await givenAlipay(t);
  const asked = { orderNumber: order, transactionId: trade, refundId: 'refund-1' };
  const query = async (refundId = 'refund-1') => {
    const queried = await maker.queryRefund({ ...asked, refundId });
    return queried.kind === 'reported' ? queried.report.notifications : queried.kind;
  };
  t.is(await query(), 'unknown');
  await browse((await maker.makePayment(paymentRequest)).url);
  platform.pay(order);
  t.is(await query(), 'unknown');
  await maker.refund?.(refundOf(trade, 1_900, 'refund-1'));
  // then
  t.deepEqual(await query(), [
    {
      ...{ order_number: order, transaction_id: trade, at: '2026-01-02T04:04:05.000Z' },
      fact: { kind: 'refund', refund_id: 'refund-1', status: 'succeeded', amount: 1_900, currency: 'CNY' },
    },
  ]);
  t.is(await query('refund-2'), 'unknown');
});

test('A trade that ends without a payment has expired', async (t) => {
  const { platform, maker, provider } = await givenAlipay(t);
  await browse((await maker.makePayment(paymentRequest)).url);
  const { facts } = await factsOf(provider, platform.close(order));
  t.deepEqual(facts, [{ order_number: order, fact: { kind: 'expired' } }]);
  const queried = await maker.query(order);
  t.like(queried, { kind: 'reported', report: { notifications: [{ fact: { kind: 'expired' } }] } });
});

test('A gateway that is silent, slow, fails or signs with another key leaves the outcome unknown', async (t) => {
  const { platform, maker } = await givenAlipay(t, [merchantKeys.publicKey]);
  platform.will('is silent', 'is slow', 'fails', 'fails');
  t.is(await failureOf(maker.query(order)), 'outcome_unknown connection_timeout');
  t.is(await failureOf(maker.query(order)), 'outcome_unknown status_500');
  // when
  await browse((await maker.makePayment(paymentRequest)).url);
  platform.pay(order);
  // then
  t.is(await failureOf(maker.query(order)), 'outcome_unknown reply_not_genuine');
});

const replies = [
  ['20000', 'isp.unknow-error', 'outcome_unknown isp.unknow-error'],
  ['20000', null, 'outcome_unknown 20000'],
  ['40004', 'ACQ.SYSTEM_ERROR', 'outcome_unknown ACQ.SYSTEM_ERROR'],
  ['40004', 'ACQ.REFUND_ROLL_BACK_FAIL', 'outcome_unknown ACQ.REFUND_ROLL_BACK_FAIL'],
  ['40005', 'isv.app-call-limited', 'unavailable isv.app-call-limited'],
  ['40004', 'ACQ.TRADE_HAS_CLOSE', 'refused ACQ.TRADE_HAS_CLOSE'],
  ['40004', 'words, with a name', 'refused 40004'],
] as const;

for (const [code, subCode, failure] of replies) {
  test(`Alipay's code ${code} with ${subCode ?? 'no detail'} means ${failure.split(' ')[0] ?? ''}`, async (t) => {
    const answer = { code, ...(subCode === null ? {} : { sub_code: subCode }) };
    const ask = makeAlipayClient({
      signer: { appId: 'app', privateKey: merchantKeys.privateKey, gateway: 'https://alipay.example' },
      publicKeys: [],
      call: () =>
        Promise.resolve({
          ...{ status: 200, headers: {} },
          body: Buffer.from(JSON.stringify({ alipay_trade_query_response: answer })),
        }),
      now: () => new Date(0),
    });
    t.is(await failureOf(ask({ method: 'alipay.trade.query', content: {} })), failure);
  });
}

test('Alipay takes yuan only', async (t) => {
  const { maker } = await givenAlipay(t);
  const price = { amount: 1, currency: 'USD' };
  t.is(await failureOf(maker.makePayment({ ...paymentRequest, price })), 'refused currency');
});
