import {
  money,
  nothing,
  order,
  paid,
  type PaymentMessage,
  personal,
  refundedInTotal,
  tells,
  unreadable,
} from './messages.js';

const intent = 'pi_3PTestOnly0000000000001';
const customer = { email: `${personal}@example.org`, name: `${personal} Żółć 顾客` };

let count = 0;

function event(
  type: string,
  object: Readonly<Record<string, unknown>>,
  told: PaymentMessage['told'],
  {
    title = type,
    isOurs = true,
    ...top
  }: Readonly<Record<string, unknown>> & { title?: string; isOurs?: boolean } = {},
): PaymentMessage {
  count += 1;
  const key = `evt_TestOnly${String(count).padStart(4, '0')}`;
  const message = {
    id: key,
    object: 'event',
    api_version: '2025-09-30.clover',
    created: 1_767_323_000,
    data: { object },
    livemode: true,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    ...top,
  };
  return { title, message, key, isOurs, told };
}

const session = {
  id: 'cs_live_TestOnly01',
  object: 'checkout.session',
  amount_total: 999,
  client_reference_id: order,
  currency: 'usd',
  customer_details: customer,
  metadata: {},
  payment_intent: intent,
  payment_status: 'paid',
  status: 'complete',
};
const paymentIntent = {
  id: intent,
  object: 'payment_intent',
  amount: 999,
  amount_received: 999,
  currency: 'usd',
  metadata: { order_id: order },
  receipt_email: customer.email,
  status: 'succeeded',
};
const charge = {
  id: 'ch_3PTestOnly01',
  object: 'charge',
  amount: 999,
  amount_refunded: 400,
  billing_details: customer,
  currency: 'usd',
  metadata: {},
  payment_intent: intent,
  refunded: false,
};
const refund = {
  id: 're_3PTestOnly01',
  object: 'refund',
  amount: 400,
  charge: charge.id,
  currency: 'usd',
  payment_intent: intent,
  status: 'succeeded',
};
const dispute = {
  id: 'du_1PTestOnly01',
  object: 'dispute',
  amount: 999,
  charge: charge.id,
  currency: 'usd',
  evidence: { customer_name: personal },
  payment_intent: intent,
  status: 'needs_response',
};

const paidSession = tells(paid(999, 'USD'), order, intent);
const refundTold = (status: 'pending' | 'succeeded' | 'failed') =>
  tells({ kind: 'refund', refund_id: refund.id, status, ...money(400, 'USD') }, null, intent);
const disputeTold = (status: 'open' | 'won' | 'lost') =>
  tells({ kind: 'dispute', dispute_id: dispute.id, status, ...money(999, 'USD') }, null, intent);

export const stripeMessages: readonly PaymentMessage[] = [
  event('checkout.session.completed', session, paidSession, { title: 'a session is completed and paid' }),
  event(
    'checkout.session.completed',
    { ...session, payment_status: 'unpaid' },
    tells({ kind: 'unpaid' }, order, intent),
    { title: 'a session is completed by a delayed method' },
  ),
  event(
    'checkout.session.completed',
    { ...session, payment_status: 'no_payment_required', payment_intent: null, amount_total: 0 },
    tells(nothing, order, null),
    { title: 'a session costs nothing' },
  ),
  event(
    'checkout.session.completed',
    { ...session, client_reference_id: null, metadata: { order_id: order } },
    paidSession,
    { title: 'a session names its order in its metadata' },
  ),
  event(
    'checkout.session.completed',
    { ...session, amount_total: '999' },
    tells(unreadable('data.object.amount_total'), order, intent),
    {
      title: 'an amount is a text',
    },
  ),
  event(
    'checkout.session.completed',
    { ...session, amount_total: 9.99 },
    tells(unreadable('data.object.amount_total'), order, intent),
    {
      title: 'an amount has decimals',
    },
  ),
  event(
    'checkout.session.completed',
    { ...session, currency: null },
    tells(unreadable('data.object.amount_total'), order, intent),
    {
      title: 'an amount has no currency',
    },
  ),
  event(
    'checkout.session.completed',
    { ...session, payment_status: 'later' },
    tells(unreadable('data.object.payment_status'), order, intent),
    {
      title: 'a payment status is new',
    },
  ),
  event(
    'checkout.session.completed',
    { ...session, currency: 'isk', amount_total: 50_000 },
    tells(paid(500, 'ISK'), order, intent),
    {
      title: 'Stripe counts a currency in hundredths that has none',
    },
  ),
  event(
    'checkout.session.completed',
    { ...session, currency: 'isk', amount_total: 50_001 },
    tells(unreadable('data.object.amount_total'), order, intent),
    {
      title: 'hundredths of a currency that has none are left over',
    },
  ),
  event('checkout.session.async_payment_succeeded', session, paidSession),
  event(
    'checkout.session.async_payment_failed',
    { ...session, payment_status: 'unpaid' },
    tells({ kind: 'failed' }, order, intent),
  ),
  event(
    'checkout.session.expired',
    { ...session, payment_intent: null, payment_status: 'unpaid', status: 'expired' },
    tells({ kind: 'expired' }, order, null),
  ),
  event(
    'checkout.session.expired',
    { ...session, payment_intent: null, client_reference_id: null },
    tells(nothing, null, null),
    {
      title: 'a session of something else expires',
    },
  ),
  event('payment_intent.succeeded', paymentIntent, paidSession, {
    title: 'the intent of the same payment succeeds',
  }),
  event(
    'payment_intent.succeeded',
    { ...paymentIntent, metadata: {} },
    tells(paid(999, 'USD'), null, intent),
    {
      title: 'an intent names no order',
    },
  ),
  event(
    'payment_intent.succeeded',
    { ...paymentIntent, id: null },
    tells(unreadable('transaction id'), order, null),
    {
      title: 'a payment has no id',
    },
  ),
  event('payment_intent.processing', paymentIntent, tells({ kind: 'pending' }, order, intent)),
  event('payment_intent.payment_failed', paymentIntent, tells(nothing, order, intent)),
  event('payment_intent.canceled', paymentIntent, tells({ kind: 'canceled' }, order, intent)),
  event('charge.succeeded', charge, tells(nothing, null, intent)),
  event('charge.refunded', charge, tells(refundedInTotal(400, 'USD'), null, intent)),
  event(
    'charge.refunded',
    { ...charge, payment_intent: null },
    tells(refundedInTotal(400, 'USD'), null, charge.id),
    {
      title: 'a charge without an intent is refunded',
    },
  ),
  event('refund.created', { ...refund, status: 'pending' }, refundTold('pending')),
  event('refund.updated', refund, refundTold('succeeded')),
  event('charge.refund.updated', { ...refund, status: 'canceled' }, refundTold('failed')),
  event('refund.failed', { ...refund, status: 'failed' }, refundTold('failed')),
  event(
    'refund.updated',
    { ...refund, status: 'new' },
    tells(unreadable('data.object.status'), null, intent),
    {
      title: 'a refund has a new status',
    },
  ),
  event('charge.dispute.created', dispute, disputeTold('open')),
  event('charge.dispute.created', { ...dispute, status: 'lost' }, disputeTold('lost'), {
    title: 'a dispute is lost when it is made',
  }),
  event('charge.dispute.funds_withdrawn', dispute, tells(nothing, null, intent)),
  event('charge.dispute.closed', { ...dispute, status: 'won' }, disputeTold('won'), {
    title: 'a dispute is won',
  }),
  event('charge.dispute.closed', { ...dispute, status: 'warning_closed' }, disputeTold('won'), {
    title: 'a warning comes to nothing',
  }),
  event('charge.dispute.closed', { ...dispute, status: 'lost' }, disputeTold('lost'), {
    title: 'a dispute is lost',
  }),
  event(
    'charge.dispute.closed',
    { ...dispute, status: 'constructor' },
    tells(unreadable('data.object.status'), null, intent),
    {
      title: 'a dispute has a status that objects inherit',
    },
  ),
  event('customer.created', { id: 'cus_1', object: 'customer', ...customer }, tells(nothing, null, null)),
  event('constructor', { id: 'x' }, tells(nothing, null, null), { title: 'a type that objects inherit' }),
  event('checkout.session.completed', session, paidSession, {
    title: 'test mode',
    livemode: false,
    isOurs: false,
  }),
  event('checkout.session.completed', session, paidSession, {
    title: 'a connected account',
    account: 'acct_TestOnly',
    isOurs: false,
  }),
];
