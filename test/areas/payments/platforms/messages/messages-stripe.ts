import type { PaymentFact } from '../../../../../src/areas/payments/domain/fact.js';
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

type Changes = Readonly<Record<string, unknown>>;

function event(
  type: string,
  object: Readonly<Record<string, unknown>>,
  told: PaymentMessage['told'],
  titled: string | (Changes & { readonly title: string; readonly isOurs?: boolean }) = type,
): PaymentMessage {
  const { title, isOurs = true, ...top } = typeof titled === 'string' ? { title: titled } : titled;
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

const told = (fact: PaymentFact) => tells(fact, null, intent);
const ordered = (fact: PaymentFact, transaction: string | null = intent) => tells(fact, order, transaction);
const paidSession = ordered(paid(999, 'USD'));
const noAmount = ordered(unreadable('data.object.amount_total'));
const noStatus = told(unreadable('data.object.status'));
const refunded = (status: 'pending' | 'succeeded' | 'failed') =>
  told({ kind: 'refund', refund_id: refund.id, status, ...money(400, 'USD') });
const disputed = (status: 'open' | 'won' | 'lost') =>
  told({ kind: 'dispute', dispute_id: dispute.id, status, ...money(999, 'USD') });

const completed = (title: string, changes: Changes, tells: PaymentMessage['told'] = paidSession) =>
  event('checkout.session.completed', { ...session, ...changes }, tells, title);
const succeeded = (title: string, changes: Changes, tells: PaymentMessage['told'] = paidSession) =>
  event('payment_intent.succeeded', { ...paymentIntent, ...changes }, tells, title);
const closed = (title: string, status: string, tells: PaymentMessage['told']) =>
  event('charge.dispute.closed', { ...dispute, status }, tells, title);
const [unpaid, unmade] = [{ payment_status: 'unpaid' }, { payment_intent: null }];
const byMetadata = { client_reference_id: null, metadata: { order_id: order } };

export const stripeMessages: readonly PaymentMessage[] = [
  completed('a session is completed and paid', {}),
  completed('a session is completed by a delayed method', unpaid, ordered({ kind: 'unpaid' })),
  completed(
    'a session costs nothing',
    { payment_status: 'no_payment_required', ...unmade, amount_total: 0 },
    ordered(nothing, null),
  ),
  completed('a session names its order in its metadata', byMetadata),
  completed('an amount is a text', { amount_total: '999' }, noAmount),
  completed('an amount has decimals', { amount_total: 9.99 }, noAmount),
  completed('an amount has no currency', { currency: null }, noAmount),
  completed(
    'a payment status is new',
    { payment_status: 'later' },
    ordered(unreadable('data.object.payment_status')),
  ),
  completed(
    'Stripe counts a currency in hundredths that has none',
    { currency: 'isk', amount_total: 50_000 },
    ordered(paid(500, 'ISK')),
  ),
  completed(
    'hundredths of a currency that has none are left over',
    { currency: 'isk', amount_total: 50_001 },
    noAmount,
  ),
  event('checkout.session.async_payment_succeeded', session, paidSession),
  event('checkout.session.async_payment_failed', { ...session, ...unpaid }, ordered({ kind: 'failed' })),
  event(
    'checkout.session.expired',
    { ...session, ...unmade, ...unpaid, status: 'expired' },
    ordered({ kind: 'expired' }, null),
  ),
  event(
    'checkout.session.expired',
    { ...session, ...unmade, client_reference_id: null },
    tells(nothing, null, null),
    'a session of something else expires',
  ),
  succeeded('the intent of the same payment succeeds', {}),
  succeeded('an intent names no order', { metadata: {} }, told(paid(999, 'USD'))),
  succeeded('a payment has no id', { id: null }, ordered(unreadable('transaction id'), null)),
  event('payment_intent.processing', paymentIntent, ordered({ kind: 'pending' })),
  event('payment_intent.payment_failed', paymentIntent, ordered(nothing)),
  event('payment_intent.canceled', paymentIntent, ordered({ kind: 'canceled' })),
  event('charge.succeeded', charge, told(nothing)),
  event('charge.refunded', charge, told(refundedInTotal(400, 'USD'))),
  event(
    'charge.refunded',
    { ...charge, ...unmade },
    tells(refundedInTotal(400, 'USD'), null, charge.id),
    'a charge without an intent is refunded',
  ),
  event('refund.created', { ...refund, status: 'pending' }, refunded('pending')),
  event('refund.updated', refund, refunded('succeeded')),
  event('charge.refund.updated', { ...refund, status: 'canceled' }, refunded('failed')),
  event('refund.failed', { ...refund, status: 'failed' }, refunded('failed')),
  event('refund.updated', { ...refund, status: 'new' }, noStatus, 'a refund has a new status'),
  event('charge.dispute.created', dispute, disputed('open')),
  event(
    'charge.dispute.created',
    { ...dispute, status: 'lost' },
    disputed('lost'),
    'a dispute is lost when it is made',
  ),
  event('charge.dispute.funds_withdrawn', dispute, told(nothing)),
  closed('a dispute is won', 'won', disputed('won')),
  closed('a warning comes to nothing', 'warning_closed', disputed('won')),
  closed('a dispute is lost', 'lost', disputed('lost')),
  closed('a dispute has a status that objects inherit', 'constructor', noStatus),
  event('customer.created', { id: 'cus_1', object: 'customer', ...customer }, tells(nothing, null, null)),
  event('constructor', { id: 'x' }, tells(nothing, null, null), 'a type that objects inherit'),
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
