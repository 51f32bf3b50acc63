import type { PaymentFact, PaymentNotification } from '../../domain/fact.js';
import { stripeAmount } from '../money.js';
import { type Fields, at, orderReference, textAt, timeAt } from '../calls/parsing.js';
import type { VerifiedCallback } from '../payment-provider.js';
import { fieldsAt, nothing, unreadable, verified } from '../keys/verification.js';

/** The signed fields that the service uses (paths of the event). */
export const stripeFields: readonly string[] = [
  'id',
  'type',
  'livemode',
  'account',
  ...[
    'id',
    'payment_intent',
    'charge',
    'client_reference_id',
    'metadata.order_id',
    'payment_status',
    'status',
    'amount',
    'amount_total',
    'amount_subtotal',
    'mode',
    'amount_received',
    'amount_refunded',
    'currency',
  ].map((name) => `data.object.${name}`),
];

/**
 * Reads the report of an event that a callback brings, or that Stripe lists. Its key is the event's id. Events of connected
 * accounts name an account; events of our own account do not. Returns null for an event without id or type.
 * @param livemode undefined accepts both modes
 */
export function readStripeReport(
  event: Fields | null,
  livemode: boolean | undefined,
): VerifiedCallback | null {
  const [key, type] = [textAt(event, 'id'), textAt(event, 'type')];
  if (event === null || key === null || type === null) return null;
  const isOfMode = livemode === undefined || at(event, 'livemode') === livemode;
  const object = at(event, 'data.object');
  return verified({
    key,
    isOurs: isOfMode && (at(event, 'account') ?? null) === null && !isOfPaymentLink(object),
    notifications: [readStripeEvent(type, object, timeAt(event, 'created'))],
    fields: fieldsAt(event, stripeFields),
  }).callback;
}

/**
 * Returns whether a session is of a Payment Link ("Track a payment link"). A buyer chooses its `client_reference_id` by a URL
 * parameter, so a link of another product could pay an order.
 */
export function isOfPaymentLink(object: unknown): boolean {
  return (at(object, 'payment_link') ?? null) !== null;
}

/**
 * Reads an event ("Types of events"). The id of a payment is its intent's, which sessions, charges, refunds and
 * disputes name. So the session and the intent of one payment report the same transaction.
 */
export function readStripeEvent(
  type: string,
  object: unknown,
  occurredAt: string | null,
): PaymentNotification {
  const intent = textAt(object, 'payment_intent');
  const order_number = textAt(object, 'metadata.order_id');
  if (type.startsWith('checkout.session.')) {
    const fact = factOfSession(type, object);
    const session = textAt(object, 'id');
    const reference = {
      order_number: orderReference(textAt(object, 'client_reference_id'), order_number),
      // A session with the price zero has no intent.
      transaction_id: intent ?? (fact.kind === 'paid' ? session : null),
      ...(session === null ? {} : { reference: session }),
    };
    return { ...reference, fact, at: occurredAt };
  }
  if (type.startsWith('payment_intent.')) {
    const reference = { order_number, transaction_id: textAt(object, 'id') };
    return { ...reference, fact: factOfIntent(type, object), at: occurredAt };
  }
  // A charge without an intent has its own transaction.
  const charge = type === 'charge.refunded' ? textAt(object, 'id') : textAt(object, 'charge');
  const reference = { order_number, transaction_id: intent ?? charge };
  return { ...reference, fact: factOfCharge(type, object), at: occurredAt };
}

function factOfSession(type: string, session: unknown): PaymentFact {
  switch (type) {
    case 'checkout.session.completed':
      return completed(session);
    case 'checkout.session.async_payment_succeeded':
      return paidSession(session);
    case 'checkout.session.async_payment_failed':
      return { kind: 'failed' };
    case 'checkout.session.expired':
      return { kind: 'expired' };
    default:
      return nothing;
  }
}

function completed(session: unknown): PaymentFact {
  switch (at(session, 'payment_status')) {
    case 'no_payment_required':
      return paysNothing(session) ? nothing : paidSession(session);
    case 'paid':
      return paidSession(session);
    // With a delayed method, the session completes before the money arrives, and a voucher waits for the buyer. The
    // intent reports a payment that was made (`payment_intent.processing`).
    case 'unpaid':
      return { kind: 'unpaid' };
    default:
      return unreadable('data.object.payment_status');
  }
}

/** A set-up, a trial, or a session without a price. A discount of the whole price pays an order. */
function paysNothing(session: unknown): boolean {
  const isPayment = (at(session, 'mode') ?? 'payment') === 'payment';
  return !isPayment || [0, null, undefined].includes(at(session, 'amount_subtotal') as number);
}

/**
 * Reads a paid session. `amount_subtotal` is the price of its items. Shipping, discounts and Stripe Tax make
 * `amount_total`, the money that moves. A session of a subscription pays an invoice, whose refunds do not name the
 * session, and it is the first of many payments, so it pays no order: an operator sees it.
 */
function paidSession(session: unknown): PaymentFact {
  if ((at(session, 'mode') ?? 'payment') !== 'payment') return unreadable('data.object.mode');
  const total = paid(session, 'amount_total');
  if (total.kind !== 'paid' || at(session, 'amount_subtotal') === undefined) return total;
  const asked = paid(session, 'amount_subtotal');
  if (asked.kind !== 'paid' || asked.amount === total.amount) return asked;
  return { ...asked, charged: total.amount };
}

function factOfIntent(type: string, intent: unknown): PaymentFact {
  switch (type) {
    case 'payment_intent.succeeded':
      return paid(intent, 'amount_received');
    case 'payment_intent.processing':
      return { kind: 'pending' };
    case 'payment_intent.canceled':
      return { kind: 'canceled' };
    // payment_intent.payment_failed changes nothing: after one failed attempt of a card, the intent goes on.
    default:
      return nothing;
  }
}

function factOfCharge(type: string, object: unknown): PaymentFact {
  switch (type) {
    case 'charge.refunded': {
      const money = stripeAmount(at(object, 'amount_refunded'), at(object, 'currency'));
      return money === null
        ? unreadable('data.object.amount_refunded')
        : { kind: 'refunded-in-total', ...money };
    }
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return refund(object);
    case 'charge.dispute.created':
    case 'charge.dispute.closed':
      return dispute(object);
    // The intent reports a charge.succeeded. The end of the dispute reports charge.dispute.funds_….
    default:
      return nothing;
  }
}

const refundStatuses: ReadonlyMap<unknown, 'pending' | 'succeeded' | 'failed'> = new Map([
  ['pending', 'pending'],
  ['requires_action', 'pending'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

function refund(object: unknown): PaymentFact {
  const refund_id = textAt(object, 'id');
  const status = refundStatuses.get(at(object, 'status'));
  const money = stripeAmount(at(object, 'amount'), at(object, 'currency'));
  if (refund_id === null) return unreadable('data.object.id');
  if (status === undefined) return unreadable('data.object.status');
  return money === null ? unreadable('data.object.amount') : { kind: 'refund', refund_id, status, ...money };
}

/** The states by status, not by event type: if a payment method has no appeal, its dispute is lost on creation. */
const disputeStatuses: ReadonlyMap<unknown, 'open' | 'won' | 'lost'> = new Map([
  ['warning_needs_response', 'open'],
  ['warning_under_review', 'open'],
  ['needs_response', 'open'],
  ['under_review', 'open'],
  ['warning_closed', 'won'],
  ['won', 'won'],
  ['prevented', 'won'],
  ['lost', 'lost'],
]);

function dispute(object: unknown): PaymentFact {
  const dispute_id = textAt(object, 'id');
  const status = disputeStatuses.get(at(object, 'status'));
  if (dispute_id === null) return unreadable('data.object.id');
  if (status === undefined) return unreadable('data.object.status');
  // A dispute may be about a part of the payment.
  const money = stripeAmount(at(object, 'amount'), at(object, 'currency'));
  return { kind: 'dispute', dispute_id, status, ...money };
}

function paid(object: unknown, field: string): PaymentFact {
  const money = stripeAmount(at(object, field), at(object, 'currency'));
  return money === null ? unreadable(`data.object.${field}`) : { kind: 'paid', ...money };
}
