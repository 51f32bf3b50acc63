import {
  money,
  nothing,
  order,
  otherOrder,
  paid,
  type PaymentMessage,
  personal,
  refundedInTotal,
  type Told,
  unreadable,
} from './messages.js';

const capture = '2GG279541U471931P';
const refundId = '1JU08902781691411';

let count = 0;

/** Returns a transmission's id, which is the key. The maker of the vectors assigns the ids in this order. */
export const transmissionId = (number: number): string =>
  `69cd13f0-d67a-11e5-baa3-${String(number).padStart(12, '0')}`;

function event(
  type: string,
  resource: Readonly<Record<string, unknown>>,
  told: readonly Told[],
  {
    title = type,
    resourceType = 'capture',
  }: { readonly title?: string; readonly resourceType?: string } = {},
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

const one = (fact: Told['fact']): readonly Told[] => [{ order_number: order, transaction_id: capture, fact }];
const refunded = (status: 'pending' | 'succeeded' | 'failed' | 'reversed'): Told['fact'] => ({
  kind: 'refund',
  refund_id: refundId,
  status,
  ...money(400, 'USD'),
});
const disputed = (fact: Told['fact']): readonly Told[] => [
  { order_number: order, transaction_id: capture, fact },
  { order_number: otherOrder, transaction_id: '3EC53200VC0112345', fact },
];
const disputeOf = (status: 'open' | 'won' | 'lost'): readonly Told[] =>
  disputed({ kind: 'dispute', dispute_id: 'PP-D-27803', status });
const resolved = (outcome: string) => ({
  ...dispute,
  status: 'RESOLVED',
  dispute_outcome: { outcome_code: outcome },
});
const asDispute = { resourceType: 'dispute' };
const asRefund = { resourceType: 'refund' };

export const paypalMessages: readonly PaymentMessage[] = [
  event('PAYMENT.CAPTURE.COMPLETED', captured, one(paid(999, 'USD'))),
  event(
    'PAYMENT.CAPTURE.COMPLETED',
    { ...captured, amount: { currency_code: 'JPY', value: '999' } },
    one(paid(999, 'JPY')),
    { title: 'a currency without decimals' },
  ),
  event(
    'PAYMENT.CAPTURE.COMPLETED',
    { ...captured, amount: { currency_code: 'USD', value: 9.99 } },
    one(unreadable('resource.amount')),
    { title: 'an amount is a number' },
  ),
  event('PAYMENT.CAPTURE.PENDING', { ...captured, status: 'PENDING' }, one({ kind: 'pending' })),
  event('PAYMENT.CAPTURE.DENIED', { ...captured, status: 'DECLINED' }, one({ kind: 'failed' })),
  event('PAYMENT.CAPTURE.DECLINED', { ...captured, status: 'DECLINED' }, one({ kind: 'failed' })),
  event(
    'PAYMENT.CAPTURE.REFUNDED',
    refund,
    [...one(refunded('succeeded')), ...one(refundedInTotal(650, 'USD'))],
    asRefund,
  ),
  event(
    'PAYMENT.CAPTURE.REFUNDED',
    { ...refund, status: 'PENDING', seller_payable_breakdown: {} },
    one(refunded('pending')),
    { ...asRefund, title: 'a refund takes its time' },
  ),
  event(
    'PAYMENT.CAPTURE.REFUNDED',
    { ...refund, links: [] },
    [
      { order_number: order, transaction_id: null, fact: unreadable('transaction id') },
      { order_number: order, transaction_id: null, fact: unreadable('transaction id') },
    ],
    { ...asRefund, title: 'a refund names no capture' },
  ),
  event('PAYMENT.CAPTURE.REFUNDED', captured, one(unreadable('resource_type')), {
    title: 'a refund comes as a capture',
  }),
  event('PAYMENT.CAPTURE.REVERSED', refund, one(refunded('reversed')), asRefund),
  event(
    'PAYMENT.CAPTURE.REVERSED',
    captured,
    one({ kind: 'refund', refund_id: capture, status: 'reversed', ...money(999, 'USD') }),
    { title: 'a reversal comes as a capture' },
  ),
  event(
    'CHECKOUT.ORDER.APPROVED',
    { id: '5O190127TN364715T', purchase_units: [{ custom_id: order }], payer: { name: personal } },
    [{ order_number: order, transaction_id: null, fact: { kind: 'approved' } }],
    { resourceType: 'checkout-order' },
  ),
  event(
    'CHECKOUT.PAYMENT-APPROVAL.REVERSED',
    { order_id: '5O190127TN364715T', purchase_units: [{ custom_id: order }] },
    [{ order_number: order, transaction_id: null, fact: { kind: 'canceled' } }],
    { resourceType: 'checkout-order' },
  ),
  event('CUSTOMER.DISPUTE.CREATED', dispute, disputeOf('open'), asDispute),
  event('CUSTOMER.DISPUTE.UPDATED', { ...dispute, status: 'UNDER_REVIEW' }, disputeOf('open'), asDispute),
  event('CUSTOMER.DISPUTE.RESOLVED', resolved('RESOLVED_BUYER_FAVOUR'), disputeOf('lost'), {
    ...asDispute,
    title: 'the buyer is right',
  }),
  event('CUSTOMER.DISPUTE.RESOLVED', resolved('RESOLVED_SELLER_FAVOUR'), disputeOf('won'), {
    ...asDispute,
    title: 'the seller is right',
  }),
  event('CUSTOMER.DISPUTE.UPDATED', resolved('CANCELED_BY_BUYER'), disputeOf('won'), {
    ...asDispute,
    title: 'the buyer thinks better of it',
  }),
  event(
    'CUSTOMER.DISPUTE.RESOLVED',
    resolved('RESOLVED_WITH_PAYOUT'),
    disputed(unreadable('resource.dispute_outcome.outcome_code')),
    {
      ...asDispute,
      title: 'who has paid whom is open',
    },
  ),
  event(
    'CUSTOMER.DISPUTE.CREATED',
    { ...dispute, disputed_transactions: [] },
    [{ order_number: null, transaction_id: null, fact: unreadable('resource.disputed_transactions') }],
    { ...asDispute, title: 'a dispute about nothing' },
  ),
  event(
    'BILLING.PLAN.CREATED',
    { id: 'P-1' },
    [{ order_number: null, transaction_id: null, fact: nothing }],
    {
      resourceType: 'plan',
    },
  ),
];
