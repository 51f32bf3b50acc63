import {
  money,
  nothing,
  order,
  otherOrder,
  paid,
  type PaymentMessage,
  personal,
  refundedInTotal,
  tells,
  type Told,
  unreadable,
} from './messages.js';

const capture = '2GG279541U471931P';
const refundId = '1JU08902781691411';
const paypalOrder = '5O190127TN364715T';

let count = 0;

interface Named {
  readonly title?: string | undefined;
  readonly resourceType?: string;
}

/** Returns a transmission's id, which is the key. The maker of the vectors assigns the ids in this order. */
export const transmissionId = (number: number): string =>
  `69cd13f0-d67a-11e5-baa3-${String(number).padStart(12, '0')}`;

function event(
  type: string,
  resource: Readonly<Record<string, unknown>>,
  told: readonly Told[],
  { title = type, resourceType = 'capture' }: Named = {},
): PaymentMessage {
  count += 1;
  const message = {
    id: `WH-TestOnly-${count}`,
    event_version: '1.0',
    create_time: '2026-01-02T03:04:00.000Z',
    resource_type: resourceType,
    resource_version: '2.0',
    event_type: type,
    summary: 'Payment completed for $ 9.99 USD — Żółć',
    resource,
    links: [],
  };
  return { title, message, key: transmissionId(count), told };
}

const captured = {
  id: capture,
  amount: { currency_code: 'USD', value: '9.99' },
  custom_id: order,
  final_capture: true,
  status: 'COMPLETED',
  payee: { email_address: `${personal}@example.org` },
  create_time: '2026-01-02T03:03:58Z',
  update_time: '2026-01-02T03:03:58Z',
  links: [
    { rel: 'self', href: `https://api.paypal.com/v2/payments/captures/${capture}` },
    { rel: 'up', href: 'https://api.paypal.com/v2/checkout/orders/5O190127TN364715T' },
  ],
};
const refund = {
  id: refundId,
  amount: { currency_code: 'USD', value: '4.00' },
  custom_id: order,
  status: 'COMPLETED',
  note_to_payer: personal,
  seller_payable_breakdown: { total_refunded_amount: { currency_code: 'USD', value: '6.50' } },
  links: [
    { rel: 'self', href: `https://api.paypal.com/v2/payments/refunds/${refundId}` },
    { rel: 'up', href: `https://api.paypal.com/v2/payments/captures/${capture}` },
  ],
};
const dispute = {
  dispute_id: 'PP-D-27803',
  status: 'OPEN',
  disputed_transactions: [
    { seller_transaction_id: capture, custom: order, buyer: { name: personal } },
    { seller_transaction_id: '3EC53200VC0112345', custom: otherOrder },
  ],
  messages: [{ content: personal }],
};

const one = (fact: Told['fact']) => tells(fact, order, capture);
const noTransaction = tells(unreadable('transaction id'), order, null);
const refunded = (status: 'pending' | 'succeeded' | 'failed' | 'reversed'): Told['fact'] => ({
  ...({ kind: 'refund', refund_id: refundId, status } as const),
  ...money(400, 'USD'),
});
const disputed = (fact: Told['fact']): readonly Told[] => [
  ...one(fact),
  ...tells(fact, otherOrder, '3EC53200VC0112345'),
];
const disputeOf = (status: 'open' | 'won' | 'lost'): readonly Told[] =>
  disputed({ kind: 'dispute', dispute_id: 'PP-D-27803', status });

type Changes = Readonly<Record<string, unknown>>;
const completed = (changes: Changes, told: readonly Told[], title?: string) =>
  event('PAYMENT.CAPTURE.COMPLETED', { ...captured, ...changes }, told, { title });
const refunding = (changes: Changes, told: readonly Told[], title?: string) =>
  event('PAYMENT.CAPTURE.REFUNDED', { ...refund, ...changes }, told, { title, resourceType: 'refund' });
const disputing = (what: string, changes: Changes, told: readonly Told[], title?: string) =>
  event(`CUSTOMER.DISPUTE.${what}`, { ...dispute, ...changes }, told, { title, resourceType: 'dispute' });
const resolved = (outcome_code: string) => ({ status: 'RESOLVED', dispute_outcome: { outcome_code } });
const units = { purchase_units: [{ custom_id: order }] };
const approving = (type: string, ids: Changes, fact: Told['fact'], more: Changes = {}) =>
  event(type, { ...ids, ...units, ...more }, tells(fact, order, null), { resourceType: 'checkout-order' });
const unknownOutcome = unreadable('resource.dispute_outcome.outcome_code');

export const paypalMessages: readonly PaymentMessage[] = [
  completed({}, one(paid(999, 'USD'))),
  completed(
    { amount: { currency_code: 'JPY', value: '999' } },
    one(paid(999, 'JPY')),
    'a currency without decimals',
  ),
  completed(
    { amount: { currency_code: 'USD', value: 9.99 } },
    one(unreadable('resource.amount')),
    'an amount is a number',
  ),
  event('PAYMENT.CAPTURE.PENDING', { ...captured, status: 'PENDING' }, one({ kind: 'pending' })),
  event('PAYMENT.CAPTURE.DENIED', { ...captured, status: 'DECLINED' }, one({ kind: 'failed' })),
  event('PAYMENT.CAPTURE.DECLINED', { ...captured, status: 'DECLINED' }, one({ kind: 'failed' })),
  refunding({}, [...one(refunded('succeeded')), ...one(refundedInTotal(650, 'USD'))]),
  refunding(
    { status: 'PENDING', seller_payable_breakdown: {} },
    one(refunded('pending')),
    'a refund takes its time',
  ),
  refunding({ links: [] }, [...noTransaction, ...noTransaction], 'a refund names no capture'),
  event('PAYMENT.CAPTURE.REFUNDED', captured, one(unreadable('resource_type')), {
    title: 'a refund comes as a capture',
  }),
  event('PAYMENT.CAPTURE.REVERSED', refund, one(refunded('reversed')), { resourceType: 'refund' }),
  event(
    'PAYMENT.CAPTURE.REVERSED',
    captured,
    one({ kind: 'refund', refund_id: capture, status: 'reversed', ...money(999, 'USD') }),
    { title: 'a reversal comes as a capture' },
  ),
  approving(
    'CHECKOUT.ORDER.APPROVED',
    { id: paypalOrder },
    { kind: 'approved' },
    { payer: { name: personal } },
  ),
  approving('CHECKOUT.PAYMENT-APPROVAL.REVERSED', { order_id: paypalOrder }, { kind: 'canceled' }),
  disputing('CREATED', {}, disputeOf('open')),
  disputing('UPDATED', { status: 'UNDER_REVIEW' }, disputeOf('open')),
  disputing('RESOLVED', resolved('RESOLVED_BUYER_FAVOUR'), disputeOf('lost'), 'the buyer is right'),
  disputing('RESOLVED', resolved('RESOLVED_SELLER_FAVOUR'), disputeOf('won'), 'the seller is right'),
  disputing('UPDATED', resolved('CANCELED_BY_BUYER'), disputeOf('won'), 'the buyer thinks better of it'),
  disputing(
    'RESOLVED',
    resolved('RESOLVED_WITH_PAYOUT'),
    disputed(unknownOutcome),
    'who has paid whom is open',
  ),
  disputing(
    'CREATED',
    { disputed_transactions: [] },
    tells(unreadable('resource.disputed_transactions'), null, null),
    'a dispute about nothing',
  ),
  event('BILLING.PLAN.CREATED', { id: 'P-1' }, tells(nothing, null, null), { resourceType: 'plan' }),
];
