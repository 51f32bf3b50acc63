import { z } from 'zod';
import type { PaymentAction } from '../payment.js';
import { type OrderEvent, platformOf } from './events.js';
import {
  type PaymentAttempt,
  hasDispute,
  isCaptured,
  isGivenBack,
  type Ledger,
  noFacts,
  type OrderFacts,
  hasValidCapture,
  refundedOf,
  takenOf,
  underWay,
  withAttempt,
  withCapture,
  withDispute,
  withEnd,
  withEntry,
  withPending,
  withRefund,
  withRefundedInTotal,
  withoutUnderWay,
} from './facts.js';
import {
  afterDecision,
  disputedMoney,
  isCharged,
  noReview,
  type Review,
  transactionKey,
  withMismatch,
} from './review.js';
import { type Captures, dismissalOf, noCaptures, unusedPayments } from './unused.js';

export const orderStatusSchema = z
  .enum([
    'created',
    'pending',
    'paid',
    'fulfilled',
    'partially_refunded',
    'refunded',
    'disputed',
    'review',
    'failed',
    'expired',
    'canceled',
  ])
  .meta({ id: 'OrderStatus' });
export type OrderStatus = z.infer<typeof orderStatusSchema>;

/** The fields that the aggregate and the view both fold. The status and the figures of an order follow from them. */
export type OrderFields = Review &
  Captures & {
    /** Minor units. */
    readonly amount: number;
    readonly currency: string;
    readonly facts: OrderFacts;
    /** Whether the buyer holds the grant. */
    readonly is_granted: boolean;
  };

/** A literal with one spread, which comes first, takes a fifth of the time of one with several. */
const nothingReported = { ...noReview, ...noCaptures, facts: noFacts, is_granted: false };

export function newOrder({ amount, currency }: Pick<OrderFields, 'amount' | 'currency'>): OrderFields {
  return { ...nothingReported, amount, currency };
}

/** Returns the fields that the event changes. */
export function applyEvent(
  order: OrderFields,
  event: Exclude<OrderEvent, { type: 'OrderPlaced' }>,
): Partial<OrderFields> {
  const { facts } = order;
  switch (event.type) {
    case 'PaymentPending': {
      if (event.data.is_unpaid === true) return { facts: withPending(facts) };
      const pending_ms = Date.parse(event.data.at);
      return { facts: withAttempt(withPending(facts), attemptOf(event), { pending_ms }) };
    }
    case 'PaymentCaptured':
      return afterCapture(order, event);
    case 'PaymentFailed': {
      const { reason, at } = event.data;
      const end = reason === 'expired' ? { expired_ms: Date.parse(at) } : { ended_ms: Date.parse(at) };
      return { facts: withAttempt(withEnd(facts, reason), attemptOf(event), end) };
    }
    case 'OrderExpired':
      return { facts: withEnd(withoutUnderWay(facts), 'expired') };
    case 'OrderCanceled':
      return { facts: { ...withEnd(facts, 'canceled'), is_withdrawn: true } };
    case 'RefundReported': {
      const { refund, amount, currency, at } = event.data;
      const figure = { amount, currency, at_ms: Date.parse(at) };
      if (refund === 'in-total') return { facts: withRefundedInTotal(facts, transactionOf(event), figure) };
      const { refund_id: id, status } = refund;
      return { facts: withRefund(facts, transactionOf(event), { id, status, ...figure }) };
    }
    case 'DisputeOpened':
    case 'DisputeClosed': {
      const { dispute_id: id, at } = event.data;
      const status = event.type === 'DisputeOpened' ? 'open' : event.data.outcome;
      const [at_ms, money] = [Date.parse(at), disputedMoney(event.data)];
      return { facts: withDispute(facts, transactionOf(event), { id, status, at_ms, money }) };
    }
    case 'PaymentMismatchFound':
      return withMismatch(order, event.data);
    case 'ReviewResolved':
      return afterReview(order, event.data);
    case 'GrantRecipientGone':
      return { gone: event.data.reason };
    case 'OrderFulfilled':
      return { is_granted: true };
    case 'FulfilmentRevoked':
      return { is_granted: false };
  }
}

/** A report of the money that the platform charged, instead of the price, is about the same payment. */
function afterCapture(
  order: OrderFields,
  event: Extract<OrderEvent, { type: 'PaymentCaptured' }>,
): Partial<OrderFields> {
  const { callback: id, transaction_id, amount, charged = amount, currency, at } = event.data;
  const transaction = transactionOf(event);
  const paid = { amount: charged, currency };
  const after = withCapture(order.facts, transaction, paid);
  const provider = platformOf(id);
  const capture = { id, provider, transaction, transaction_id, ...paid, at, is_applied: false };
  return {
    facts: after,
    mismatches: order.mismatches.filter((waiting) => !isCharged(after, waiting)),
    captures: withEntry(order.captures, 'transaction', capture, (known) => known),
  };
}

/** A decision is on a mismatch, or else on a payment that bought nothing or is partly lost, which can only be dismissed. */
function afterReview(
  order: OrderFields,
  { callback: id, action }: Extract<OrderEvent, { type: 'ReviewResolved' }>['data'],
): Partial<OrderFields> {
  const mismatch = order.mismatches.find((waiting) => waiting.id === id);
  if (mismatch === undefined) {
    const unused = unusedPayments(order).find((one) => one.id === id);
    return unused === undefined ? {} : { dismissed: [...order.dismissed, dismissalOf(unused)] };
  }
  const after = afterDecision(order, mismatch, action);
  const { fact, provider, transaction_id, at } = mismatch;
  if (action !== 'apply' || fact.kind !== 'paid') return after;
  const transaction = transactionKey(provider, id, transaction_id);
  const { amount, currency } = fact;
  const capture = { id, provider, transaction, transaction_id, amount, currency, at, is_applied: true };
  return { ...after, captures: withEntry(order.captures, 'transaction', capture, (known) => known) };
}

/** A payment without a transaction is one payment of its platform. */
function attemptOf({
  data: { callback, transaction_id },
}: Extract<OrderEvent, { type: 'PaymentPending' | 'PaymentFailed' }>) {
  return { id: transactionKey(platformOf(callback), '', transaction_id), transaction_id };
}

/** Returns the key of the transaction that the event is about. */
function transactionOf({
  data: { callback, transaction_id: transactionId },
}: Extract<
  OrderEvent,
  { type: 'PaymentCaptured' | 'RefundReported' | 'DisputeOpened' | 'DisputeClosed' }
>): string {
  return transactionKey(platformOf(callback), callback, transactionId);
}

/** Returns the refunded amount of all payments, in minor units of the order's currency. */
export function refundedAmount(order: OrderFields): number {
  return capturedLedgers(order).reduce((total, ledger) => total + inCurrencyOf(order, ledger), 0);
}

/** A refund of a payment in another currency counts as the same share of the order's amount. */
function inCurrencyOf(
  { amount, currency }: OrderFields,
  ledger: Ledger & { readonly captured: number },
): number {
  const refunded = refundedOf(ledger);
  if (ledger.currency === currency || refunded === 0) return refunded;
  const captured = BigInt(ledger.captured);
  // Rounded half up. The product may not be a safe integer.
  return Number((2n * BigInt(amount) * BigInt(refunded) + captured) / (2n * captured));
}

function capturedLedgers({ facts }: Pick<OrderFields, 'facts'>) {
  return facts.transactions
    .flatMap(({ ledgers }) => ledgers)
    .flatMap(({ captured, ...ledger }) => (captured === null ? [] : [{ ...ledger, captured }]));
}

/** Returns whether the buyer is entitled to the grant. */
export function isDue({ facts }: OrderFields): boolean {
  return facts.transactions.some(hasValidCapture);
}

/** A platform decides on a payment within days. The bound is for those whose decision is lost. */
export const pendingMsMax = 21 * 86_400_000;

/** Returns the payment that outranks every end but the buyer's own: it was made, and the platform decides; or null. */
export function paymentUnderWay({ facts }: OrderFields): PaymentAttempt | null {
  if (facts.is_withdrawn || capturedLedgers({ facts }).length > 0) return null;
  return underWay(facts)[0] ?? null;
}

/**
 * Returns whether the order expires: it has no capture, its time is over, and it has either no end, or a payment that the
 * platform has not decided for `pendingMsMax`. Its buyer has not canceled it. Mismatches do not count.
 */
export function isExpiring(order: OrderFields & { readonly expires_at: string }, now: Date): boolean {
  const { facts, expires_at } = order;
  const pending = underWay(facts);
  const isOver = pending.every(({ pending_ms }) => pending_ms + pendingMsMax <= now.getTime());
  const isUnpaid = capturedLedgers(order).length === 0 && (facts.ends.length === 0 || pending.length > 0);
  return isUnpaid && isOver && !facts.is_withdrawn && new Date(expires_at) <= now;
}

/** Returns whether the order waits for a payment. */
export function isOpen(order: OrderFields): boolean {
  return isOpenStatus(orderStatus(order));
}

/** Returns whether an order of this status waits for a payment. */
export function isOpenStatus(status: OrderStatus): boolean {
  return status === 'created' || status === 'pending';
}

/** Returns the first status that holds, in the order of src/areas/payments/README.md#orders. */
export function orderStatus(order: OrderFields): OrderStatus {
  const { facts, mismatches } = order;
  if (mismatches.length > 0) return 'review';
  if (capturedLedgers(order).length > 0) return statusOfPaid(order);
  if (paymentUnderWay(order) !== null) return 'pending';
  for (const end of ['canceled', 'expired', 'failed'] as const) if (facts.ends.includes(end)) return end;
  return facts.is_pending ? 'pending' : 'created';
}

function statusOfPaid(order: OrderFields): OrderStatus {
  const captured = capturedLedgers(order);
  if (captured.every(isGivenBack)) return 'refunded';
  const isDisputed = order.facts.transactions.some(
    (transaction) =>
      isCaptured(transaction) &&
      (hasDispute(transaction, 'open') ||
        hasDispute(transaction, 'lost') ||
        transaction.ledgers.some((ledger) => takenOf(transaction, ledger) > 0)),
  );
  if (isDisputed) return 'disputed';
  if (captured.some((ledger) => refundedOf(ledger) > 0)) return 'partially_refunded';
  return order.is_granted ? 'fulfilled' : 'paid';
}

export type OrderState = { readonly status: 'absent' } | PlacedOrder;

export type OrderPlaced = Extract<OrderEvent, { type: 'OrderPlaced' }>['data'];

export interface PlacedOrder extends OrderFields, Omit<OrderPlaced, 'amount' | 'currency'> {
  readonly status: 'placed';
  /** The decisions by name of the mismatch. */
  readonly resolved: ReadonlyMap<string, { readonly action: PaymentAction; readonly note_digest: string }>;
  /** `<event type>/<name of the report>` of every event that a report caused. */
  readonly seen: ReadonlySet<string>;
}

export function evolve(state: OrderState, event: OrderEvent): OrderState {
  if (event.type === 'OrderPlaced') {
    const { data } = event;
    return { ...data, status: 'placed', ...newOrder(data), resolved: new Map(), seen: new Set() };
  }
  if (state.status === 'absent') return state;
  const [resolved, seen] = [resolvedAfter(state, event), seenAfter(state, event)];
  return { ...state, ...applyEvent(state, event), resolved, seen };
}

function resolvedAfter({ resolved }: PlacedOrder, event: OrderEvent): PlacedOrder['resolved'] {
  if (event.type !== 'ReviewResolved') return resolved;
  const { callback, action, note_digest } = event.data;
  return new Map(resolved).set(callback, { action, note_digest });
}

function seenAfter({ seen }: PlacedOrder, event: OrderEvent): ReadonlySet<string> {
  return 'callback' in event.data ? new Set(seen).add(`${event.type}/${event.data.callback}`) : seen;
}
