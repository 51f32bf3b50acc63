import type { PaymentProviderName } from '../payment.js';
import { type OrderEvent, type OrderGrant, platformOf } from './events.js';
import {
  hasDispute,
  isCaptured,
  isGivenBack,
  type Ledger,
  noFacts,
  type OrderFacts,
  refundedOf,
  stands,
  withCapture,
  withDispute,
  withEnd,
  withPending,
  withRefund,
  withRefundedInTotal,
} from './facts.js';
import { afterDecision, noReview, type Review, transactionKey, withMismatch } from './review.js';

export type OrderState = { readonly status: 'absent' } | PlacedOrder;

export interface PlacedOrder extends Review {
  readonly status: 'placed';
  readonly userId: string;
  readonly projectId: string | null;
  readonly planId: string;
  readonly grant: OrderGrant;
  readonly provider: PaymentProviderName;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly expiresAt: Date;
  readonly facts: OrderFacts;
  /** By the name of the mismatch: what was decided on it. */
  readonly resolved: ReadonlyMap<string, Resolution>;
  /** `<type of event>/<name of what a callback has told>` of all that stands here. */
  readonly seen: ReadonlySet<string>;
  /** Whether what was bought is granted. */
  readonly isGranted: boolean;
}

export interface Resolution {
  readonly action: 'apply' | 'dismiss';
  readonly noteDigest: string;
}

/** `status` of DESIGN 4.5. */
export type OrderStatus =
  | 'created'
  | 'pending'
  | 'paid'
  | 'fulfilled'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'
  | 'review'
  | 'failed'
  | 'expired'
  | 'canceled';

export function evolve(state: OrderState, event: OrderEvent): OrderState {
  if (event.type === 'OrderPlaced') {
    const { data } = event;
    return {
      status: 'placed',
      userId: data.user_id,
      projectId: data.project_id,
      planId: data.plan_id,
      grant: data.grant,
      provider: data.provider,
      amount: data.amount,
      currency: data.currency,
      expiresAt: new Date(data.expires_at),
      facts: noFacts,
      ...noReview,
      resolved: new Map(),
      seen: new Set(),
      isGranted: false,
    };
  }
  if (state.status === 'absent') return state;
  return { ...state, ...changeOf(state, event), seen: seenAfter(state, event) };
}

function changeOf(
  order: PlacedOrder,
  event: Exclude<OrderEvent, { type: 'OrderPlaced' }>,
): Partial<PlacedOrder> {
  const { facts } = order;
  switch (event.type) {
    case 'PaymentPending':
      return { facts: withPending(facts) };
    case 'PaymentCaptured':
      return { facts: withCapture(facts, transactionOf(event), event.data) };
    case 'PaymentFailed':
      return { facts: withEnd(facts, event.data.reason) };
    case 'OrderExpired':
      return { facts: withEnd(facts, 'expired') };
    case 'OrderCanceled':
      return { facts: withEnd(facts, 'canceled') };
    case 'RefundReported': {
      const { refund, amount, currency, at } = event.data;
      const figure = { amount, currency, atMs: Date.parse(at) };
      if (refund === 'in-total') return { facts: withRefundedInTotal(facts, transactionOf(event), figure) };
      const { refund_id: refundId, status } = refund;
      return { facts: withRefund(facts, transactionOf(event), { refundId, status, ...figure }) };
    }
    case 'DisputeOpened':
    case 'DisputeClosed': {
      const { dispute_id: disputeId, at } = event.data;
      const status = event.type === 'DisputeOpened' ? 'open' : event.data.outcome;
      return { facts: withDispute(facts, transactionOf(event), { disputeId, status, atMs: Date.parse(at) }) };
    }
    case 'PaymentMismatchFound': {
      const { callback, transaction_id: transactionId, at, ...mismatch } = event.data;
      return withMismatch(order, callback, { ...mismatch, transactionId, atMs: Date.parse(at) });
    }
    case 'ReviewResolved': {
      const { callback, action, note_digest: noteDigest } = event.data;
      const resolved = new Map(order.resolved).set(callback, { action, noteDigest });
      return { ...afterDecision(order, callback, action), resolved };
    }
    case 'OrderFulfilled':
      return { isGranted: true };
    case 'FulfilmentRevoked':
      return { isGranted: false };
  }
}

/** The payment that it is told of. */
function transactionOf({
  data: { callback, transaction_id: transactionId },
}: Extract<
  OrderEvent,
  { type: 'PaymentCaptured' | 'RefundReported' | 'DisputeOpened' | 'DisputeClosed' }
>): string {
  return transactionKey(platformOf(callback), callback, transactionId);
}

function seenAfter({ seen }: PlacedOrder, event: OrderEvent): ReadonlySet<string> {
  return 'callback' in event.data ? new Set(seen).add(`${event.type}/${event.data.callback}`) : seen;
}

/** What has been given back of all that was paid, in minor units of the order's currency. */
export function refundedAmount(order: PlacedOrder): number {
  return capturedLedgers(order).reduce((total, ledger) => total + inCurrencyOf(order, ledger), 0);
}

/** Of a payment in another currency the same part of the order's amount is given back as of what was paid. */
function inCurrencyOf(
  { amount, currency }: PlacedOrder,
  ledger: Ledger & { readonly captured: number; readonly currency: string },
): number {
  const refunded = refundedOf(ledger);
  if (ledger.currency === currency || refunded === 0) return refunded;
  const captured = BigInt(ledger.captured);
  // Rounded half up, and exact also where the product is no safe number.
  return Number((2n * BigInt(amount) * BigInt(refunded) + captured) / (2n * captured));
}

function capturedLedgers({ facts }: Pick<PlacedOrder, 'facts'>) {
  return [...facts.transactions.values()]
    .flatMap(({ ledgers }) => [...ledgers])
    .flatMap(([currency, ledger]) => {
      const { captured } = ledger;
      return captured === null ? [] : [{ ...ledger, captured, currency }];
    });
}

/** Whether the facts say that what was bought is to be had. */
export function isDue({ facts }: PlacedOrder): boolean {
  return [...facts.transactions.values()].some(stands);
}

/** Whether nothing has been paid and nothing has ended it, whatever waits for a decision. */
export function isUnpaid({ facts }: PlacedOrder): boolean {
  return facts.ends.size === 0 && capturedLedgers({ facts }).length === 0;
}

/** Whether it waits to be paid. */
export function isOpen(order: PlacedOrder): boolean {
  const status = orderStatus(order);
  return status === 'created' || status === 'pending';
}

/** The first that holds of the list in DESIGN 3, "Orders keep facts". */
export function orderStatus(order: PlacedOrder): OrderStatus {
  const { facts, mismatches } = order;
  if (mismatches.size > 0) return 'review';
  if (capturedLedgers(order).length > 0) return statusOfPaid(order);
  for (const end of ['canceled', 'expired', 'failed'] as const) if (facts.ends.has(end)) return end;
  return facts.isPending ? 'pending' : 'created';
}

function statusOfPaid(order: PlacedOrder): OrderStatus {
  const captured = capturedLedgers(order);
  if (captured.every(isGivenBack)) return 'refunded';
  const isDisputed = [...order.facts.transactions.values()].some(
    (transaction) =>
      isCaptured(transaction) && (hasDispute(transaction, 'open') || hasDispute(transaction, 'lost')),
  );
  if (isDisputed) return 'disputed';
  if (captured.some((ledger) => refundedOf(ledger) > 0)) return 'partially_refunded';
  return order.isGranted ? 'fulfilled' : 'paid';
}
