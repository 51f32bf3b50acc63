import type { PaymentProviderName } from '../payment.js';
import type { OrderEvent, OrderGrant } from './events.js';
import {
  hasDispute,
  noFacts,
  type OrderFacts,
  refundedOf,
  stands,
  type TransactionFacts,
  withCapture,
  withDispute,
  withEnd,
  withPending,
  withRefund,
  withRefundedInTotal,
} from './facts.js';

export type OrderState = { readonly status: 'absent' } | PlacedOrder;

export interface PlacedOrder {
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
  /** By callback: what nobody has resolved yet. */
  readonly mismatches: ReadonlyMap<string, Mismatch>;
  /** The callbacks whose events stand here, with what each event was of: see `factKey`. */
  readonly seen: ReadonlySet<string>;
  /** Whether what was bought is granted. */
  readonly isGranted: boolean;
}

export interface Mismatch {
  readonly transactionId: string | null;
  readonly amount: number | null;
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
      mismatches: new Map(),
      seen: new Set(),
      isGranted: false,
    };
  }
  if (state.status === 'absent') return state;
  return { ...state, ...changeOf(state, event), seen: seenAfter(state, event) };
}

function changeOf(
  { facts, mismatches, amount }: PlacedOrder,
  event: Exclude<OrderEvent, { type: 'OrderPlaced' }>,
): Partial<PlacedOrder> {
  switch (event.type) {
    case 'PaymentPending':
      return { facts: withPending(facts) };
    case 'PaymentCaptured':
      return { facts: withCapture(facts, event.data.transaction_id, event.data.amount) };
    case 'PaymentFailed':
      return { facts: withEnd(facts, event.data.reason) };
    case 'OrderExpired':
      return { facts: withEnd(facts, 'expired') };
    case 'OrderCanceled':
      return { facts: withEnd(facts, 'canceled') };
    case 'RefundReported': {
      const { transaction_id: transactionId, refund, amount: refunded, at } = event.data;
      const figure = { amount: refunded, atMs: Date.parse(at) };
      if (refund === 'in-total') return { facts: withRefundedInTotal(facts, transactionId, figure) };
      const { refund_id: refundId, status } = refund;
      return { facts: withRefund(facts, transactionId, { refundId, status, ...figure }) };
    }
    case 'DisputeOpened':
    case 'DisputeClosed': {
      const { transaction_id: transactionId, dispute_id: disputeId, at } = event.data;
      const status = event.type === 'DisputeOpened' ? 'open' : event.data.outcome;
      return { facts: withDispute(facts, transactionId, { disputeId, status, atMs: Date.parse(at) }) };
    }
    case 'PaymentMismatchFound': {
      const { callback, transaction_id: transactionId, amount: paid } = event.data;
      return { mismatches: new Map(mismatches).set(callback, { transactionId, amount: paid }) };
    }
    case 'ReviewResolved': {
      const { callback, action } = event.data;
      const rest = new Map(mismatches);
      const mismatch = rest.get(callback);
      rest.delete(callback);
      if (action === 'dismiss' || mismatch === undefined) return { mismatches: rest };
      // An operator takes it for the payment that was asked for.
      return { mismatches: rest, facts: withCapture(facts, mismatch.transactionId ?? callback, amount) };
    }
    case 'OrderFulfilled':
      return { isGranted: true };
    case 'FulfilmentRevoked':
      return { isGranted: false };
  }
}

function seenAfter({ seen }: PlacedOrder, event: OrderEvent): ReadonlySet<string> {
  return 'callback' in event.data ? new Set(seen).add(`${event.type}/${event.data.callback}`) : seen;
}

/** What has been given back of all that was paid, in minor units. */
export function refundedAmount({ facts }: PlacedOrder): number {
  return [...facts.transactions.values()]
    .filter(({ captured }) => captured !== null)
    .reduce((total, transaction) => total + refundedOf(transaction), 0);
}

/** Whether the facts say that what was bought is to be had. */
export function isDue({ facts }: PlacedOrder): boolean {
  return [...facts.transactions.values()].some(stands);
}

/** Whether nothing has been paid and nothing has ended it, whatever waits for a decision. */
export function isUnpaid({ facts }: PlacedOrder): boolean {
  return facts.ends.size === 0 && [...facts.transactions.values()].every(({ captured }) => captured === null);
}

/** Whether it waits to be paid. */
export function isOpen(order: PlacedOrder): boolean {
  const status = orderStatus(order);
  return status === 'created' || status === 'pending';
}

/** The first that holds of the list in DESIGN 3, "Orders keep facts". */
export function orderStatus(order: PlacedOrder): OrderStatus {
  const { facts, mismatches, isGranted } = order;
  if (mismatches.size > 0) return 'review';
  const captured = [...facts.transactions.values()].filter((transaction) => transaction.captured !== null);
  if (captured.length > 0) return statusOfPaid(order, captured, isGranted);
  for (const end of ['canceled', 'expired', 'failed'] as const) if (facts.ends.has(end)) return end;
  return facts.isPending ? 'pending' : 'created';
}

function statusOfPaid(
  order: PlacedOrder,
  captured: readonly TransactionFacts[],
  isGranted: boolean,
): OrderStatus {
  const refunded = refundedAmount(order);
  const paid = captured.reduce((total, transaction) => total + (transaction.captured ?? 0), 0);
  if (refunded >= paid) return 'refunded';
  const isDisputed = captured.some(
    (transaction) => hasDispute(transaction, 'open') || hasDispute(transaction, 'lost'),
  );
  if (isDisputed) return 'disputed';
  if (refunded > 0) return 'partially_refunded';
  return isGranted ? 'fulfilled' : 'paid';
}
