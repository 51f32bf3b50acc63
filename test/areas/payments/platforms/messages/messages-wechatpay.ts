import {
  merchant,
  money,
  nothing,
  order,
  otherOrder,
  paid,
  type PaymentMessage,
  personal,
  tells,
  type Told,
  unreadable,
} from './messages.js';

const transaction = '4200000000202601020000000001';
const { mchId, appId } = merchant.wechatpay;

let count = 0;

interface Named {
  readonly title?: string;
  readonly isOurs?: boolean;
}

function callback(
  type: string,
  resource: Readonly<Record<string, unknown>>,
  told: readonly Told[],
  { title = type, isOurs = true }: Named = {},
): PaymentMessage {
  count += 1;
  const key = `EV-TestOnly-${String(count).padStart(4, '0')}`;
  const message = {
    id: key,
    create_time: '2026-01-02T11:04:00+08:00',
    resource_type: 'encrypt-resource',
    event_type: type,
    summary: '支付成功',
  };
  return { title, message, resource, key, isOurs, told };
}

const payment = {
  mchid: mchId,
  appid: appId,
  out_trade_no: order,
  transaction_id: transaction,
  trade_type: 'NATIVE',
  trade_state: 'SUCCESS',
  trade_state_desc: '支付成功',
  bank_type: 'OTHERS',
  attach: '',
  success_time: '2026-01-02T11:03:58+08:00',
  payer: { openid: personal },
  amount: { total: 6900, payer_total: 6400, currency: 'CNY', payer_currency: 'CNY' },
};
const refund = {
  mchid: mchId,
  out_trade_no: order,
  transaction_id: transaction,
  out_refund_no: 'R0001',
  refund_id: '50000000382019052709732678859',
  refund_status: 'SUCCESS',
  success_time: '2026-01-02T11:03:59+08:00',
  user_received_account: personal,
  amount: { total: 6900, refund: 900, payer_total: 6900, payer_refund: 900 },
};
const subOrder = (outTradeNo: string, id: string, total: number) => ({
  mchid: mchId,
  trade_type: 'JSAPI',
  trade_state: 'SUCCESS',
  bank_type: 'CMC',
  success_time: '2026-01-02T11:03:58+08:00',
  transaction_id: id,
  out_trade_no: outTradeNo,
  amount: { total_amount: total, currency: 'CNY', payer_amount: total, payer_currency: 'CNY' },
});
const combined = {
  combine_appid: appId,
  combine_mchid: mchId,
  combine_out_trade_no: 'C0001',
  combine_payer_info: { openid: personal },
  sub_orders: [subOrder(order, `${transaction}1`, 6900), subOrder(otherOrder, `${transaction}2`, 100)],
};

const one = (fact: Told['fact']) => tells(fact, order, transaction);
const refundTold = (status: 'pending' | 'succeeded' | 'failed') =>
  one({ kind: 'refund', refund_id: 'R0001', status, ...money(900, 'CNY') });
const combinedTold: readonly Told[] = [
  ...tells(paid(6900, 'CNY'), order, `${transaction}1`),
  ...tells(paid(100, 'CNY'), otherOrder, `${transaction}2`),
];

type Changes = Readonly<Record<string, unknown>>;
const success = (changes: Changes, told: readonly Told[], named?: Named) =>
  callback('TRANSACTION.SUCCESS', { ...payment, ...changes }, told, named);
const paidAll = one(paid(6900, 'CNY'));
const foreignPart = { ...subOrder(order, `${transaction}1`, 6900), mchid: '1900000999' };

export const wechatpayMessages: readonly PaymentMessage[] = [
  success({}, paidAll),
  success({ trade_state: 'CLOSED' }, one(unreadable('resource.trade_state')), {
    title: 'success, and closed',
  }),
  success({ amount: { total: '6900' } }, one(unreadable('resource.amount.total')), {
    title: 'an amount is a text',
  }),
  success({ mchid: '1900000999' }, paidAll, { title: 'another merchant', isOurs: false }),
  success({ appid: 'wx0000000000000000' }, paidAll, { title: 'another app', isOurs: false }),
  callback('TRANSACTION.SUCCESS', combined, combinedTold, { title: 'one payment combines two orders' }),
  callback('TRANSACTION.SUCCESS', { ...combined, sub_orders: [foreignPart] }, combinedTold.slice(0, 1), {
    title: 'a combined order is another merchant’s',
    isOurs: false,
  }),
  callback(
    'TRANSACTION.SUCCESS',
    { ...combined, sub_orders: 'none' },
    tells(unreadable('resource.sub_orders'), null, null),
    { title: 'a combined payment has no orders' },
  ),
  callback('REFUND.SUCCESS', refund, refundTold('succeeded')),
  callback('REFUND.ABNORMAL', { ...refund, refund_status: 'ABNORMAL' }, refundTold('pending')),
  callback('REFUND.CLOSED', { ...refund, refund_status: 'CLOSED' }, refundTold('failed')),
  callback(
    'REFUND.SUCCESS',
    { ...refund, refund_status: 'CLOSED' },
    one(unreadable('resource.refund_status')),
    { title: 'a refund that succeeded, and was closed' },
  ),
  callback(
    'REFUND.SUCCESS',
    { ...refund, amount: { total: 6900 } },
    one(unreadable('resource.amount.refund')),
    { title: 'a refund has no amount' },
  ),
  callback('COUPON.USE', { mchid: mchId, coupon_id: '1' }, tells(nothing, null, null)),
];
