import {
  tells,
  merchant,
  nothing,
  order,
  paid,
  type PaymentMessage,
  type Told,
  unreadable,
} from './messages.js';

let count = 0;

function notification(
  title: string,
  changes: Readonly<Record<string, string>>,
  fact: Told['fact'],
  more: Partial<PaymentMessage> = {},
): PaymentMessage {
  count += 1;
  const key = `20260102110400${String(count).padStart(5, '0')}`;
  const message = {
    pid: merchant.epay.pid,
    trade_no: key,
    out_trade_no: order,
    type: 'alipay',
    name: '容量 100G',
    money: '69.00',
    trade_status: 'TRADE_SUCCESS',
    ...changes,
  };
  return { title, method: 'GET', message, key, told: tells(fact, order, key), ...more };
}

export const epayMessages: readonly PaymentMessage[] = [
  notification('paid', {}, paid(6900, 'CNY')),
  notification('paid, by POST', {}, paid(6900, 'CNY'), { method: 'POST' }),
  notification('an amount as the gateway writes numbers', { money: '69' }, paid(6900, 'CNY')),
  notification('one decimal', { money: '69.5', param: '' }, paid(6950, 'CNY')),
  notification('the goods are renamed', { name: 'product', param: 'a+b c' }, paid(6900, 'CNY')),
  notification('an ampersand that begins no parameter', { name: 'this & that = more' }, paid(6900, 'CNY')),
  notification('an exponent', { money: '1e2' }, unreadable('money')),
  notification('a third decimal', { money: '69.001' }, unreadable('money')),
  notification('another status', { trade_status: 'WAIT_BUYER_PAY' }, nothing, {
    key: 'not-paid 1e5bd5540774cb081046debb2457b8aa7b998bd520ad3fc5752601259a763469',
  }),
  notification('another merchant', { pid: '1002' }, paid(6900, 'CNY'), { isOurs: false }),
];
