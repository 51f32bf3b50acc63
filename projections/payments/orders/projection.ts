import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import { type ChangesBy, changeBy } from '../../../src/event-sourcing/ports/events.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  orderCodec,
  type OrderEvent,
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

type DataOf<Type extends OrderEvent['type']> = Extract<OrderEvent, { type: Type }>['data'];

export type OrderDocument = OrderFields &
  DataOf<'OrderPlaced'> & {
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

const keptMax = 100;
/** More than the reports that an order keeps, and as many decisions on them. */
const seenMax = 1_002;

function evolve(document: OrderDocument | null, event: Recorded<OrderEvent>): OrderDocument | null {
  if (event.type === 'OrderPlaced') {
    return {
      ...newOrder(event.data),
      ...event.data,
      status: 'created',
      refunded_amount: 0,
      paid_at: null,
      payments: [],
      decisions: [],
      seen: [],
      open_for: event.data.user_id,
      in_review: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null) return null;
  const after = { ...document, ...applyEvent(document, event) };
  const payment = changeBy(entries, event, document);
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

/** The entry of each report and decision. */
const entries: ChangesBy<Recorded<OrderEvent>, OrderDocument, PaymentEntry | null> = {
  PaymentPending: ({ data }) => entryOf('pending', data),
  PaymentCaptured: ({ data }) => entryOf('paid', data, { ...data, amount: data.charged ?? data.amount }),
  PaymentFailed: ({ data }) => entryOf(data.reason, data),
  RefundReported: ({ data }) => entryOf(isReversal(data) ? 'lost' : 'refund', data, data),
  DisputeOpened: ({ data }) => entryOf('disputed', data, moneyOf(data)),
  DisputeClosed: ({ data }) => entryOf(data.outcome, data, moneyOf(data)),
  PaymentMismatchFound: ({ data }) => entryOf('mismatch', data, moneyOf(data.fact)),
  ReviewResolved: ({ data, time: at }, before) => {
    const kind = data.action === 'apply' ? 'applied' : 'dismissed';
    const decidedOn = before.mismatches.find(({ id }) => id === data.callback);
    if (decidedOn !== undefined) return entryOf(kind, { ...decidedOn, ...data, at }, moneyOf(decidedOn.fact));
    const unused = unusedPayments(before).find(({ id }) => id === data.callback);
    return unused === undefined ? null : entryOf(kind, { ...unused, ...data, at }, unused);
  },
};

function entryOf(
  kind: PaymentEntry['kind'],
  data: Pick<PaymentEntry, 'transaction_id' | 'at'> & {
    readonly provider?: PaymentProviderName;
    readonly callback: string;
  },
  { amount, currency }: Pick<PaymentEntry, 'amount' | 'currency'> = { amount: null, currency: null },
): PaymentEntry {
  const { provider = platformOf(data.callback), transaction_id, at } = data;
  return { provider, transaction_id, kind, amount, currency, at };
}

function isReversal({ refund }: DataOf<'RefundReported'>): boolean {
  return refund !== 'in-total' && refund.status === 'reversed';
}

export const ordersProjection: Projection<OrderDocument, OrderEvent> = {
  name: 'orders',
  version: 9,
  category: orderCategory,
  codec: orderCodec,
  indexes: ['user_id', 'project_id', 'open_for', 'in_review'],
  evolve,
};
