import type { Money, PaymentFact, PaymentNotification } from '../../domain/fact.js';
import { decimalAmount } from '../money.js';
import { type Fields, at, listAt, orderReference, textAt, timeAt } from '../calls/parsing.js';
import type { VerifiedCallback } from '../payment-provider.js';
import { fieldsAt, nothing, unreadable, verified } from '../keys/verification.js';

/** The fields that the digest of a message covers (paths of the event). */
const paypalFields: readonly string[] = [
  'id',
  'event_type',
  'create_time',
  'resource_type',
  ...[
    'id',
    'status',
    'custom_id',
    'invoice_id',
    'update_time',
    'supplementary_data.related_ids.order_id',
    'amount.value',
    'amount.currency_code',
    'seller_payable_breakdown.total_refunded_amount.value',
    'seller_payable_breakdown.total_refunded_amount.currency_code',
    'dispute_id',
    'dispute_outcome.outcome_code',
    'dispute_outcome.amount_refunded.value',
    'dispute_outcome.amount_refunded.currency_code',
    'dispute_amount.value',
    'dispute_amount.currency_code',
  ].map((name) => `resource.${name}`),
];

const disputedMax = 50;

/**
 * Reads the report of an event that a callback brings, or that PayPal lists. Returns null for an event without a type.
 * @param key that of the report: see `makePayPal` and `makePayPalList`
 */
export function readPayPalReport(event: Fields | null, key: string): VerifiedCallback | null {
  const type = textAt(event, 'event_type');
  if (event === null || type === null) return null;
  const notifications = readPayPalEvent(type, event, timeAt(event, 'create_time'));
  return verified({ key, isOurs: true, notifications, fields: fieldsAt(event, paypalFields) }).callback;
}

/** Reads an event ("Webhook event names"). A payment's id is its capture's: refunds link to it, disputes name it. */
function readPayPalEvent(
  type: string,
  event: unknown,
  occurredAt: string | null,
): readonly PaymentNotification[] {
  const resource = at(event, 'resource');
  const happenedAt = timeAt(resource, 'update_time') ?? occurredAt;
  if (type.startsWith('CUSTOMER.DISPUTE.')) return readDispute(type, resource, happenedAt);
  // A reversed or refunded capture arrives with the refund as its resource.
  const isRefund = at(event, 'resource_type') === 'refund';
  const captureId = isRefund ? captureOf(resource) : textAt(resource, 'id');
  const isCapture = type.startsWith('PAYMENT.CAPTURE.');
  const made = isCapture
    ? textAt(resource, 'supplementary_data.related_ids.order_id')
    : textAt(resource, 'id');
  const reference = {
    order_number: orderOf(resource),
    transaction_id: isCapture ? captureId : null,
    ...(made === null ? {} : { reference: made }),
  };
  if (type === 'PAYMENT.CAPTURE.REFUNDED' && !isRefund)
    return [{ ...reference, fact: unreadable('resource_type'), at: happenedAt }];
  const id = textAt(event, 'id');
  return factsOf(type, resource, reference.transaction_id).map((fact) => ({
    ...reference,
    ...(fact.kind === 'approved' && id !== null ? { event: id } : {}),
    fact,
    at: happenedAt,
  }));
}

/** Returns the order number that we gave PayPal. An order has it in its first unit. */
function orderOf(resource: unknown): string | null {
  const [unit] = listAt(resource, 'purchase_units');
  return orderReference(
    textAt(resource, 'custom_id'),
    textAt(resource, 'invoice_id'),
    textAt(unit, 'custom_id'),
    textAt(unit, 'invoice_id'),
  );
}

function factsOf(type: string, resource: unknown, captureId: string | null): readonly PaymentFact[] {
  switch (type) {
    case 'PAYMENT.CAPTURE.COMPLETED': {
      const money = moneyAt(resource, 'amount');
      return [money === null ? unreadable('resource.amount') : { kind: 'paid', ...money }];
    }
    case 'PAYMENT.CAPTURE.PENDING':
      return [{ kind: 'pending' }];
    case 'PAYMENT.CAPTURE.DENIED':
    case 'PAYMENT.CAPTURE.DECLINED':
      return [{ kind: 'failed' }];
    case 'PAYMENT.CAPTURE.REFUNDED':
      return refund(resource);
    case 'PAYMENT.CAPTURE.REVERSED':
      return [reversal(resource, captureId)];
    case 'CHECKOUT.PAYMENT-APPROVAL.REVERSED':
      return [{ kind: 'canceled' }];
    // No money moves before the capture.
    case 'CHECKOUT.ORDER.APPROVED':
      return [{ kind: 'approved' }];
    default:
      return [nothing];
  }
}

const refundStatuses: ReadonlyMap<unknown, 'pending' | 'succeeded' | 'failed'> = new Map([
  ['COMPLETED', 'succeeded'],
  ['PENDING', 'pending'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'failed'],
]);

/**
 * Returns the refund, and the total of all refunds if the event has it, which covers refunds with lost events. While the
 * refund is pending, and when it fails, the total may contain it, and no money has moved.
 */
function refund(resource: unknown): readonly PaymentFact[] {
  const refund_id = textAt(resource, 'id');
  const status = refundStatuses.get(at(resource, 'status'));
  const money = moneyAt(resource, 'amount');
  const total = moneyAt(resource, 'seller_payable_breakdown.total_refunded_amount');
  if (refund_id === null) return [unreadable('resource.id')];
  if (status === undefined) return [unreadable('resource.status')];
  if (money === null) return [unreadable('resource.amount')];
  const one: PaymentFact = { kind: 'refund', refund_id, status, ...money };
  return total === null || status !== 'succeeded' ? [one] : [one, { kind: 'refunded-in-total', ...total }];
}

/** PayPal has taken this money back. A capture as the resource names the whole of it. */
function reversal(resource: unknown, captureId: string | null): PaymentFact {
  const refund_id = textAt(resource, 'id');
  const money = moneyAt(resource, 'amount');
  if (captureId === null) return unreadable('resource.links');
  if (refund_id === null) return unreadable('resource.id');
  if (money === null) return unreadable('resource.amount');
  return { kind: 'refund', refund_id, status: 'reversed', ...money };
}

function readDispute(
  type: string,
  resource: unknown,
  happenedAt: string | null,
): readonly PaymentNotification[] {
  const transactions = listAt(resource, 'disputed_transactions');
  const nowhere = { order_number: null, transaction_id: null };
  if (transactions.length === 0 || transactions.length > disputedMax)
    return [{ ...nowhere, fact: unreadable('resource.disputed_transactions'), at: happenedAt }];
  // The amount of a dispute is not divided among its transactions.
  const fact = factOfDispute(type, resource, transactions.length === 1);
  return transactions.map((transaction) => ({
    order_number: orderReference(textAt(transaction, 'custom'), textAt(transaction, 'invoice_number')),
    transaction_id: textAt(transaction, 'seller_transaction_id'),
    fact,
    at: happenedAt,
  }));
}

const outcomes: ReadonlyMap<unknown, 'won' | 'lost'> = new Map([
  ['RESOLVED_BUYER_FAVOUR', 'lost'],
  ['ACCEPTED', 'lost'],
  ['RESOLVED_SELLER_FAVOUR', 'won'],
  ['CANCELED_BY_BUYER', 'won'],
  ['DENIED', 'won'],
  // Another dispute about the same transaction goes on.
  ['NONE', 'won'],
]);

/** A dispute that the buyer won may refund less than the disputed amount. One that the seller won may name a refund of 0. */
function disputedMoneyOf(resource: unknown, isLost: boolean): Money | null {
  const refunded = isLost ? moneyAt(resource, 'dispute_outcome.amount_refunded') : null;
  return refunded ?? moneyAt(resource, 'dispute_amount');
}

function factOfDispute(type: string, resource: unknown, isOfOne: boolean): PaymentFact {
  const dispute_id = textAt(resource, 'dispute_id');
  if (dispute_id === null) return unreadable('resource.dispute_id');
  const isResolved = type === 'CUSTOMER.DISPUTE.RESOLVED' || at(resource, 'status') === 'RESOLVED';
  // RESOLVED_WITH_PAYOUT does not say who has paid.
  const status = isResolved ? outcomes.get(at(resource, 'dispute_outcome.outcome_code')) : 'open';
  if (status === undefined) return unreadable('resource.dispute_outcome.outcome_code');
  const money = isOfOne ? disputedMoneyOf(resource, status === 'lost') : null;
  return { kind: 'dispute', dispute_id, status, ...money };
}

function captureOf(resource: unknown): string | null {
  const up = listAt(resource, 'links').find((link) => at(link, 'rel') === 'up');
  return /\/v2\/payments\/captures\/([A-Z0-9]{1,64})\/?$/.exec(textAt(up, 'href', 2_048) ?? '')?.[1] ?? null;
}

function moneyAt(resource: unknown, path: string): Money | null {
  return decimalAmount(at(resource, `${path}.value`), at(resource, `${path}.currency_code`));
}
