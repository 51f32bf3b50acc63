import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import { orderCodec, type OrderEvent, type OrderGrant, platformOf } from '../../src/domain/order/events.js';
import {
  evolve as evolveOrder,
  isOpen,
  orderStatus,
  type OrderStatus,
  type PlacedOrder,
  refundedAmount,
} from '../../src/domain/order/state.js';
import { orderCategory } from '../../src/domain/order/stream.js';
import type { PaymentProviderName } from '../../src/domain/payment.js';
import { type FactsDocument, fromFactsDocument, toFactsDocument } from './facts-document.js';
import { type DecisionEntry, decisionOf } from '../payment-decisions/entry.js';
import { fromReviewDocument, moneyOf, type ReviewDocument, toReviewDocument } from './review-document.js';

export type OrderDocument = ReviewDocument & {
  readonly user_id: string;
  readonly project_id: string | null;
  readonly plan_id: string;
  readonly grant: OrderGrant;
  readonly provider: PaymentProviderName;
  readonly amount: number;
  readonly currency: string;
  readonly expires_at: string;
  /** What status and figures follow from. */
  readonly facts: FactsDocument;
  readonly is_granted: boolean;
  readonly status: OrderStatus;
  readonly refunded_amount: number;
  /** By the platform's time. */
  readonly paid_at: string | null;
  /** What platforms have reported, the last hundred. */
  readonly payments: readonly PaymentEntry[];
  /** What operators have decided on what was in review, the last hundred. */
  readonly decisions: readonly DecisionEntry[];
  /** The user while the order waits to be paid; null otherwise. */
  readonly open_for: string | null;
  readonly in_review: 'yes' | null;
  readonly created_at: string;
  readonly updated_at: string;
};

/** `at`: by the platform's clock; of what an operator decided by ours. `transaction_id`: null where the platform names none. Money is null where none is named. */
export type PaymentEntry = {
  readonly provider: PaymentProviderName;
  readonly transaction_id: string | null;
  readonly kind:
    | 'pending'
    | 'paid'
    | 'failed'
    | 'expired'
    | 'canceled'
    | 'refund'
    | 'disputed'
    | 'won'
    | 'lost'
    | 'mismatch'
    /** What an operator made of a payment in review. */
    | 'applied'
    | 'dismissed';
  readonly amount: number | null;
  readonly currency: string | null;
  readonly at: string;
};

const keptMax = 100;

function evolve(document: OrderDocument | null, event: Recorded<OrderEvent>): OrderDocument | null {
  if (event.type === 'OrderPlaced') {
    return {
      ...event.data,
      facts: { is_pending: false, ends: [], transactions: [] },
      is_granted: false,
      status: 'created',
      refunded_amount: 0,
      paid_at: null,
      payments: [],
      mismatches: [],
      decided: [],
      decisions: [],
      open_for: event.data.user_id,
      in_review: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null) return null;
  const order = evolveOrder(toOrder(document), event);
  if (order.status === 'absent') return null;
  const payment = paymentOf(document, event);
  return {
    ...document,
    facts: toFactsDocument(order.facts),
    is_granted: order.isGranted,
    status: orderStatus(order),
    refunded_amount: refundedAmount(order),
    paid_at: paidAt(document, event),
    payments: payment === null ? document.payments : [...document.payments, payment].slice(-keptMax),
    ...toReviewDocument(order),
    decisions: decisionsAfter(document, event),
    open_for: isOpen(order) ? document.user_id : null,
    in_review: order.mismatches.size > 0 ? 'yes' : null,
    updated_at: event.time,
  };
}

/** The aggregate's state, but for what only its decisions ask: which callbacks it has seen, and what was decided on them. */
function toOrder(document: OrderDocument): PlacedOrder {
  return {
    status: 'placed',
    userId: document.user_id,
    projectId: document.project_id,
    planId: document.plan_id,
    grant: document.grant,
    provider: document.provider,
    amount: document.amount,
    currency: document.currency,
    expiresAt: new Date(document.expires_at),
    facts: fromFactsDocument(document.facts),
    ...fromReviewDocument(document),
    resolved: new Map(),
    seen: new Set(),
    isGranted: document.is_granted,
  };
}

function decisionsAfter(
  { decisions }: OrderDocument,
  event: Recorded<OrderEvent>,
): OrderDocument['decisions'] {
  if (event.type !== 'ReviewResolved') return decisions;
  const order_id = event.stream.slice(orderCategory.length + 1);
  const decision = decisionOf(event, { ...event.data, payment_id: event.data.callback, order_id });
  return [...decisions, decision].slice(-keptMax);
}

/** The first payment's time, whichever came first. */
function paidAt({ paid_at, mismatches }: OrderDocument, event: Recorded<OrderEvent>): string | null {
  const at = event.type === 'PaymentCaptured' ? event.data.at : appliedAt(mismatches, event);
  if (at === null) return paid_at;
  return paid_at === null || at < paid_at ? at : paid_at;
}

/** When that was paid which an operator has taken for the payment. */
function appliedAt(mismatches: OrderDocument['mismatches'], event: Recorded<OrderEvent>): string | null {
  if (event.type !== 'ReviewResolved' || event.data.action !== 'apply') return null;
  return mismatches.find(({ id }) => id === event.data.callback)?.at ?? null;
}

function paymentOf(document: OrderDocument, event: Recorded<OrderEvent>): PaymentEntry | null {
  const entry = (
    kind: PaymentEntry['kind'],
    data: {
      readonly provider?: PaymentProviderName;
      readonly callback: string;
      readonly transaction_id: string | null;
      readonly at: string;
    },
    money: { readonly amount: number | null; readonly currency: string | null },
  ): PaymentEntry => ({
    provider: data.provider ?? platformOf(data.callback),
    transaction_id: data.transaction_id,
    kind,
    amount: money.amount,
    currency: money.currency,
    at: data.at,
  });
  switch (event.type) {
    case 'PaymentPending':
      return entry('pending', event.data, unnamed);
    case 'PaymentCaptured':
      return entry('paid', event.data, event.data);
    case 'PaymentFailed':
      return entry(event.data.reason, event.data, unnamed);
    case 'RefundReported':
      return entry('refund', event.data, event.data);
    case 'DisputeOpened':
      return entry('disputed', event.data, unnamed);
    case 'DisputeClosed':
      return entry(event.data.outcome, event.data, unnamed);
    case 'PaymentMismatchFound':
      return entry('mismatch', event.data, moneyOf(event.data.fact));
    case 'ReviewResolved': {
      const decidedOn = document.mismatches.find(({ id }) => id === event.data.callback);
      if (decidedOn === undefined) return null;
      const kind = event.data.action === 'apply' ? 'applied' : 'dismissed';
      return entry(kind, { ...decidedOn, ...event.data, at: event.time }, moneyOf(decidedOn.fact));
    }
    case 'OrderPlaced':
    case 'OrderExpired':
    case 'OrderCanceled':
    case 'OrderFulfilled':
    case 'FulfilmentRevoked':
      return null;
  }
}

const unnamed = { amount: null, currency: null };

export const ordersProjection: Projection<OrderDocument, OrderEvent> = {
  name: 'orders',
  version: 3,
  category: orderCategory,
  codec: orderCodec,
  indexes: ['user_id', 'project_id', 'open_for', 'in_review'],
  evolve,
};
