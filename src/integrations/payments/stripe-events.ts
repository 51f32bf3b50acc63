import { stripeAmount } from './money.js';
import { at, textAt } from './parsing.js';
import type { PaymentFact, PaymentNotification } from './payment-provider.js';
import { nothing, unreadable } from './verification.js';

/** The signed fields that are used (paths of the event). */
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
    'amount_received',
    'amount_refunded',
    'currency',
  ].map((name) => `data.object.${name}`),
];

/**
 * What an event tells ("Types of events"). A payment's id is its intent's everywhere: sessions, charges, refunds and disputes name
 * their intent, so the session and the intent of one payment tell of the same transaction.
 */
export function readStripeEvent(type: string, object: unknown, occurredAt: Date | null): PaymentNotification {
  const intent = textAt(object, 'payment_intent');
  const orderNumber = textAt(object, 'metadata.order_id');
  if (type.startsWith('checkout.session.')) {
    const fact = factOfSession(type, object);
    const reference = {
      orderNumber: textAt(object, 'client_reference_id') ?? orderNumber,
      // A session that cost nothing has no intent.
      transactionId: intent ?? (fact.kind === 'paid' ? textAt(object, 'id') : null),
    };
    return { reference, fact, at: occurredAt };
  }
  if (type.startsWith('payment_intent.')) {
    const reference = { orderNumber, transactionId: textAt(object, 'id') };
    return { reference, fact: factOfIntent(type, object), at: occurredAt };
  }
  // A charge made without an intent is its own transaction.
  const charge = type === 'charge.refunded' ? textAt(object, 'id') : textAt(object, 'charge');
  const reference = { orderNumber, transactionId: intent ?? charge };
  return { reference, fact: factOfCharge(type, object), at: occurredAt };
}

function factOfSession(type: string, session: unknown): PaymentFact {
  switch (type) {
    case 'checkout.session.completed':
      return completed(session);
    case 'checkout.session.async_payment_succeeded':
      return paid(session, 'amount_total');
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
    case 'paid':
    case 'no_payment_required':
      return paid(session, 'amount_total');
    // A delayed method completes the session before any money has come.
    case 'unpaid':
      return { kind: 'pending' };
    default:
      return unreadable('data.object.payment_status');
  }
}

function factOfIntent(type: string, intent: unknown): PaymentFact {
  switch (type) {
    case 'payment_intent.succeeded':
      return paid(intent, 'amount_received');
    case 'payment_intent.processing':
      return { kind: 'pending' };
    case 'payment_intent.canceled':
      return { kind: 'canceled' };
    // payment_intent.payment_failed: a failed try of a card is not the end of the intent.
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
        : { kind: 'refunded-in-total', money };
    }
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return refund(object);
    case 'charge.dispute.created':
    case 'charge.dispute.closed':
      return dispute(object);
    // charge.succeeded is told by the intent; charge.dispute.funds_… by the dispute's end.
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
  const refundId = textAt(object, 'id');
  const status = refundStatuses.get(at(object, 'status'));
  const money = stripeAmount(at(object, 'amount'), at(object, 'currency'));
  if (refundId === null) return unreadable('data.object.id');
  if (status === undefined) return unreadable('data.object.status');
  return money === null ? unreadable('data.object.amount') : { kind: 'refund', refundId, status, money };
}

/** By status rather than type: where a method knows no appeal, a dispute is lost when it is made. */
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
  const disputeId = textAt(object, 'id');
  const status = disputeStatuses.get(at(object, 'status'));
  if (disputeId === null) return unreadable('data.object.id');
  return status === undefined ? unreadable('data.object.status') : { kind: 'dispute', disputeId, status };
}

function paid(object: unknown, field: string): PaymentFact {
  const money = stripeAmount(at(object, field), at(object, 'currency'));
  return money === null ? unreadable(`data.object.${field}`) : { kind: 'paid', money };
}
