import {
  nothing,
  order,
  paid,
  type PaymentMessage,
  refundedInTotal,
  type Told,
  unreadable,
} from './messages.js';

const transaction = 'tx-TestOnly-1';
let count = 0;

function message(
  type: string,
  changes: Readonly<Record<string, unknown>>,
  fact: Told['fact'],
  title = type,
): PaymentMessage {
  count += 1;
  const data = { order_number: order, transaction_id: transaction, amount: 999, currency: 'USD', ...changes };
  return {
    title,
    message: { type, timestamp: '2026-01-02T03:04:00.000Z', data },
    key: `msg_TestOnly${String(count).padStart(4, '0')}`,
    told: [
      {
        order_number: typeof data.order_number === 'string' ? order : null,
        transaction_id: typeof data.transaction_id === 'string' ? transaction : null,
        fact,
      },
    ],
  };
}

const dispute = (status: 'open' | 'won' | 'lost'): Told['fact'] => ({
  kind: 'dispute',
  dispute_id: transaction,
  status,
});

export const standardMessages: readonly PaymentMessage[] = [
  message('payment.pending', {}, { kind: 'pending' }),
  message('payment.paid', {}, paid(999, 'USD')),
  message('payment.paid', { currency: 'jpy' }, paid(999, 'JPY'), 'a currency in lower case'),
  message('payment.paid', { amount: '9.99' }, unreadable('data.amount'), 'an amount in decimals'),
  message(
    'payment.paid',
    { amount: 9_007_199_254_740_992 },
    unreadable('data.amount'),
    'an amount too large to count',
  ),
  message('payment.paid', { amount: -1 }, unreadable('data.amount'), 'an amount below nothing'),
  message('payment.paid', { currency: 'dollars' }, unreadable('data.amount'), 'a currency that is none'),
  message('payment.paid', { transaction_id: null }, unreadable('transaction id'), 'a payment without an id'),
  message('payment.failed', {}, { kind: 'failed' }),
  message('payment.failed', { order_number: null, transaction_id: 7 }, nothing, 'a failure of nothing'),
  message('payment.expired', {}, { kind: 'expired' }),
  message('payment.canceled', {}, { kind: 'canceled' }),
  message('payment.refunded', { refunded_amount: 400 }, refundedInTotal(400, 'USD')),
  message('payment.refunded', {}, unreadable('data.refunded_amount'), 'a refund without an amount'),
  message('payment.disputed', {}, dispute('open')),
  message('dispute.won', {}, dispute('won')),
  message('dispute.lost', {}, dispute('lost')),
  message('invoice.sent', {}, nothing),
  message('toString', {}, nothing, 'a type that objects inherit'),
];
