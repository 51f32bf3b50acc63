import {
  merchant,
  nothing,
  order,
  paid,
  type PaymentMessage,
  personal,
  refundedInTotal,
  tells,
  type Told,
  unreadable,
} from './messages.js';

const trade = '2026010222001400000000000001';
const { appId, sellerId } = merchant.alipay;

let count = 0;

function notification(
  title: string,
  changes: Readonly<Record<string, string>>,
  facts: readonly Told['fact'][],
  isOurs = true,
): PaymentMessage {
  count += 1;
  const key = `2026010200222110400${String(count).padStart(6, '0')}`;
  const message: Readonly<Record<string, string>> = {
    app_id: appId,
    auth_app_id: appId,
    buyer_id: '2088000000000002',
    buyer_logon_id: `${personal}@example.org`,
    charset: 'utf-8',
    gmt_create: '2026-01-02 11:03:30',
    gmt_payment: '2026-01-02 11:03:58',
    invoice_amount: '69.00',
    notify_id: key,
    notify_time: '2026-01-02 11:04:00',
    notify_type: 'trade_status_sync',
    out_trade_no: order,
    seller_id: sellerId,
    sign_type: 'RSA2',
    subject: '100% Größe & 空间 + more = better',
    total_amount: '69.00',
    trade_no: trade,
    trade_status: 'TRADE_SUCCESS',
    version: '1.0',
    ...changes,
  };
  const told = facts.flatMap((fact) => tells(fact, order, trade));
  return { title, message, key, isOurs, told };
}

const paidAll = paid(6900, 'CNY');
const refundAt = { gmt_refund: '2026-01-02 11:03:59' };

export const alipayMessages: readonly PaymentMessage[] = [
  notification('paid', {}, [paidAll]),
  notification('paid, with a refund of nothing', { refund_fee: '0.00' }, [paidAll]),
  notification('a buyer is awaited', { trade_status: 'WAIT_BUYER_PAY' }, [{ kind: 'unpaid' }]),
  notification('finished', { trade_status: 'TRADE_FINISHED' }, [paidAll]),
  notification('closed', { trade_status: 'TRADE_CLOSED', gmt_close: '2026-01-02 11:03:59' }, [
    { kind: 'expired' },
  ]),
  notification(
    'refunded in part',
    { refund_fee: '9.5', gmt_refund: '2026-01-02 11:03:59.123', out_biz_no: 'R0001' },
    [paidAll, refundedInTotal(950, 'CNY')],
  ),
  notification('refunded in whole', { trade_status: 'TRADE_CLOSED', refund_fee: '69.00', ...refundAt }, [
    paidAll,
    refundedInTotal(6900, 'CNY'),
  ]),
  notification('an empty value', { body: '' }, [paidAll]),
  notification('a new status', { trade_status: 'TRADE_PAUSED' }, [unreadable('trade_status')]),
  notification('a status that objects inherit', { trade_status: '__proto__' }, [unreadable('trade_status')]),
  notification('a parameter that objects inherit', { __proto: 'x', constructor: 'y' }, [paidAll]),
  notification('a third decimal', { total_amount: '69.001' }, [unreadable('total_amount')]),
  notification('an amount in words', { refund_fee: '1e2' }, [unreadable('refund_fee')]),
  notification('another seller', { seller_id: '2088000000000009' }, [paidAll], false),
  notification('another app', { app_id: '2021000000000009' }, [paidAll], false),
  {
    ...notification('something else', { notify_type: 'open_app_auth_notify' }, []),
    told: tells(nothing, null, null),
  },
  {
    title: 'the page that a person returns to',
    method: 'GET',
    message: {
      app_id: appId,
      auth_app_id: appId,
      charset: 'utf-8',
      method: 'alipay.trade.page.pay.return',
      out_trade_no: order,
      seller_id: sellerId,
      sign_type: 'RSA2',
      timestamp: '2026-01-02 11:04:01',
      total_amount: '69.00',
      trade_no: trade,
      version: '1.0',
    },
    key: `return-${trade}`,
    told: tells(nothing, order, trade),
  },
];
