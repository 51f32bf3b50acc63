import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  orderCodec,
  type OrderEvent,
  type OrderGrant,
  platformOf,
  orderCategory,
} from '../../../src/areas/payments/domain/order/events.js';
import {
  applyEvent,
  isOpenStatus,
  newOrder,
  type OrderFields,
  orderStatus,
  type OrderStatus,
  refundedAmount,
} from '../../../src/areas/payments/domain/order/fold.js';
import { unusedPayments } from '../../../src/areas/payments/domain/order/unused.js';
import type { PaymentEntry } from './resource.js';
import { moneyOf } from '../../../src/areas/payments/domain/fact.js';
import type { PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import { type DecisionEntry, decisionOf } from '../payment-decisions/reader.js';

export type OrderDocument = OrderFields & {
  readonly user_id: string;
  readonly project_id: string | null;
  readonly plan_id: string;
  readonly grant: OrderGrant;
  readonly provider: PaymentProviderName;
  readonly expires_at: string;
  readonly status: OrderStatus;
  readonly refunded_amount: number;
  /** The platform's time of the first payment. */
  readonly paid_at: string | null;
  /** The last hundred reports and decisions. */
  readonly payments: readonly PaymentEntry[];
  /** The last hundred decisions of operators on mismatches. */
  readonly decisions: readonly DecisionEntry[];
  /** `<event type>/<name of the report>` of the last events that reports and decisions caused. */
  readonly seen: readonly string[];
  /** The user while the order waits for a payment; null otherwise. */
  readonly open_for: string | null;
  readonly in_review: 'yes' | null;
  readonly created_at: string;
  readonly updated_at: string;
};

type RefundReported = Extract<OrderEvent, { type: 'RefundReported' }>['data'];

const keptMax = 100;
/** More than the reports that an order keeps, and as many decisions on them. */
const seenMax = 1_002;

function evolve(document: OrderDocument | null, event: Recorded<OrderEvent>): OrderDocument | null {
  if (event.type === 'OrderPlaced') {
    const { user_id, project_id, plan_id, grant, provider, expires_at } = event.data;
    return {
      ...newOrder(event.data),
      user_id,
      project_id,
      plan_id,
      grant,
      provider,
      expires_at,
      status: 'created',
      refunded_amount: 0,
      paid_at: null,
      payments: [],
      decisions: [],
      seen: [],
      open_for: user_id,
      in_review: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null) return null;
  const after = { ...document, ...applyEvent(document, event) };
  const payment = paymentOf(document, event);
  const status = orderStatus(after);
  return {
    ...after,
    status,
    refunded_amount: refundedAmount(after),
    paid_at: paidAt(document, event),
    payments: payment === null ? document.payments : [...document.payments, payment].slice(-keptMax),
    decisions: decisionsAfter(document, event),
    seen: seenAfter(document, event),
    open_for: isOpenStatus(status) ? document.user_id : null,
    in_review: after.mismatches.length > 0 || unusedPayments(after).length > 0 ? 'yes' : null,
    updated_at: event.time,
  };
}

function seenAfter({ seen }: OrderDocument, { type, data }: OrderEvent): OrderDocument['seen'] {
  return 'callback' in data ? [...seen, `${type}/${data.callback}`].slice(-seenMax) : seen;
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

/** Returns the earliest time of a payment, in any order of arrival. */
function paidAt({ paid_at, mismatches }: OrderDocument, event: Recorded<OrderEvent>): string | null {
  const at = event.type === 'PaymentCaptured' ? event.data.at : appliedAt(mismatches, event);
  if (at === null) return paid_at;
  return paid_at === null || at < paid_at ? at : paid_at;
}

/** Returns the time of the payment that the event applies; null if it applies none. */
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
      return entry('paid', event.data, { ...event.data, amount: event.data.charged ?? event.data.amount });
    case 'PaymentFailed':
      return entry(event.data.reason, event.data, unnamed);
    case 'RefundReported':
      return entry(isReversal(event.data.refund) ? 'lost' : 'refund', event.data, event.data);
    case 'DisputeOpened':
      return entry('disputed', event.data, disputedOf(event.data));
    case 'DisputeClosed':
      return entry(event.data.outcome, event.data, disputedOf(event.data));
    case 'PaymentMismatchFound':
      return entry('mismatch', event.data, moneyOf(event.data.fact));
    case 'ReviewResolved': {
      const kind = event.data.action === 'apply' ? 'applied' : 'dismissed';
      const decidedOn = document.mismatches.find(({ id }) => id === event.data.callback);
      if (decidedOn !== undefined)
        return entry(kind, { ...decidedOn, ...event.data, at: event.time }, moneyOf(decidedOn.fact));
      const unused = unusedPayments(document).find(({ id }) => id === event.data.callback);
      return unused === undefined ? null : entry(kind, { ...unused, ...event.data, at: event.time }, unused);
    }
    case 'OrderPlaced':
    case 'OrderExpired':
    case 'OrderCanceled':
    case 'GrantRecipientGone':
    case 'OrderFulfilled':
    case 'FulfilmentRevoked':
      return null;
  }
}

function isReversal(refund: RefundReported['refund']): boolean {
  return refund !== 'in-total' && refund.status === 'reversed';
}

const unnamed = { amount: null, currency: null };

function disputedOf(data: { readonly amount?: number; readonly currency?: string }) {
  return { amount: data.amount ?? null, currency: data.currency ?? null };
}

export const ordersProjection: Projection<OrderDocument, OrderEvent> = {
  name: 'orders',
  version: 7,
  category: orderCategory,
  codec: orderCodec,
  indexes: ['user_id', 'project_id', 'open_for', 'in_review'],
  evolve,
};
