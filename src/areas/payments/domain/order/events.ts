import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { byteCount, entityId, instant } from '../../../../validation/fields.js';
import { currencyCode, minorAmount, paymentFact, refundStatus, transactionId } from '../fact.js';
import {
  type PaymentProviderName,
  decisionInWords,
  factInWords,
  moneyInWords,
  paymentAction,
  paymentProvider,
  resolutionNote,
  transactionInWords,
} from '../payment.js';
import { goneReason } from './unused.js';
import { inQuotes, countInWords } from '../../../../validation/text.js';

/** The grant of a paid order. */
export const orderGrant = z.union([
  z.strictObject({ capacity_bytes: byteCount }),
  z.strictObject({ entitlement: z.enum(['allow_s3']) }),
]);
export type OrderGrant = z.infer<typeof orderGrant>;

/** The difference between a genuine report and the order. */
export const mismatchReason = z.enum([
  'amount',
  'currency',
  'merchant',
  /** Another payment at the platform than the one that the service made for the order. */
  'another_payment',
  'transaction_of_another_order',
  'too_many_reports',
]);

/** The name of the report that caused the event: `<callback id>.<index>`, see `platformOf`. A report counts once. */
const callback = { callback: z.string().min(1) };
/** The disputed money; left out for the whole payment. */
const disputed = { amount: minorAmount.exactOptional(), currency: currencyCode.exactOptional() };
type Disputed = { readonly amount?: number; readonly currency?: string };
/** The platform's time; the receipt of the callback if it names none. */
const at = instant;

export const orderEvents = makeEvents('order-{id}', {
  OrderPlaced: event(
    {
      user_id: entityId,
      project_id: entityId.nullable(),
      plan_id: z.string().min(1),
      grant: orderGrant,
      provider: paymentProvider,
      amount: minorAmount,
      currency: currencyCode,
      expires_at: instant,
    },
    ({ user_id, project_id, plan_id, grant, provider, amount, currency, expires_at }, id) =>
      `placed order ${id} for user ${user_id}${project_id === null ? '' : ` and project ${project_id}`}: ` +
      `plan ${inQuotes(plan_id)}, ${grantInWords(grant)} for ${moneyInWords(amount, currency)} by ${provider}, ` +
      `to be paid until ${expires_at}`,
    'order.placed',
  ),
  /** `is_unpaid`: the payment waits for the buyer, and not for the platform. */
  PaymentPending: event(
    { ...callback, transaction_id: transactionId.nullable(), is_unpaid: z.literal(true).exactOptional(), at },
    ({ callback, transaction_id, at }, id) =>
      `recorded that the payment of order ${id} waits at the platform (${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.payment_pending',
  ),
  /** The amount and currency are the order's. `charged`: the money that moved, where it is another amount. */
  PaymentCaptured: event(
    {
      ...callback,
      transaction_id: transactionId,
      amount: minorAmount,
      charged: minorAmount.exactOptional(),
      currency: currencyCode,
      at,
    },
    ({ callback, transaction_id, amount, charged, currency, at }, id) =>
      `recorded that order ${id} was paid with ${moneyInWords(amount, currency)} ${chargedInWords(charged, currency)}` +
      `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.payment_captured',
    ({ amount, charged = amount, currency }) => ({ captured_amount: charged, captured_currency: currency }),
  ),
  PaymentFailed: event(
    {
      ...callback,
      reason: z.enum(['failed', 'expired', 'canceled']),
      transaction_id: transactionId.nullable(),
      at,
    },
    ({ callback, reason, transaction_id, at }, id) =>
      `recorded that the payment of order ${id} is ${reason} (${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.payment_failed',
  ),
  /** No payment came in time. */
  OrderExpired: event({}, (_, id) => `ended order ${id}, because no payment came in time`, 'order.expired'),
  OrderCanceled: event({}, (_, id) => `canceled order ${id}`, 'order.canceled'),
  RefundReported: event(
    {
      ...callback,
      transaction_id: transactionId,
      /** One refund by its id, or the total so far. */
      refund: z.union([
        z.strictObject({ refund_id: z.string().min(1), status: refundStatus }),
        z.literal('in-total'),
      ]),
      amount: minorAmount,
      currency: currencyCode,
      at,
    },
    ({ callback, transaction_id, refund, amount, currency, at }, id) =>
      `recorded ${
        refund === 'in-total' ? 'refunds' : `refund ${inQuotes(refund.refund_id)} (${refund.status})`
      } of ${moneyInWords(amount, currency)}${refund === 'in-total' ? ' in total' : ''} for order ${id} ` +
      `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.refund_reported',
    ({ refund, amount, currency }) => ({
      refund_id: refund === 'in-total' ? null : refund.refund_id,
      refund_status: refund === 'in-total' ? 'succeeded' : refund.status,
      refund_amount: amount,
      refund_currency: currency,
    }),
  ),
  DisputeOpened: event(
    { ...callback, transaction_id: transactionId, dispute_id: z.string().min(1), ...disputed, at },
    ({ callback, transaction_id, dispute_id, at, ...disputed }, id) =>
      `recorded that dispute ${inQuotes(dispute_id)} about ${partInWords(disputed)}order ${id} began ` +
      `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.dispute_opened',
    disputedMoney,
  ),
  DisputeClosed: event(
    {
      ...callback,
      transaction_id: transactionId,
      dispute_id: z.string().min(1),
      outcome: z.enum(['won', 'lost']),
      ...disputed,
      at,
    },
    ({ callback, transaction_id, dispute_id, outcome, at, ...disputed }, id) =>
      `recorded that dispute ${inQuotes(dispute_id)} about ${partInWords(disputed)}order ${id} was ${outcome} ` +
      `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.dispute_closed',
    disputedMoney,
  ),
  /** A genuine report that differs from the order. An operator reviews it. */
  PaymentMismatchFound: event(
    {
      ...callback,
      /** The platform of the callback, which may differ from the order's. */
      provider: paymentProvider,
      reason: mismatchReason,
      transaction_id: transactionId.nullable(),
      fact: paymentFact,
      at,
    },
    ({ callback, provider, reason, transaction_id, fact, at }, id) =>
      `found that a report of ${provider} differs from order ${id} (${reason}): ${factInWords(fact)} ` +
      `(${transactionInWords(transaction_id)}, report ${callback}, ${at})`,
    'order.review_opened',
  ),
  /** An operator's decision on a mismatch. A decision on a payment covers other reports of it: see `review.ts`. */
  ReviewResolved: event(
    { ...callback, action: paymentAction, ...resolutionNote },
    ({ callback, action }, id) =>
      `decided ${decisionInWords[action]} report ${callback} of order ${id}; the note is sealed`,
    'order.review_resolved',
  ),
  /** The order is paid, and its grant has no recipient: the buyer is erased, or the project is deleted. */
  GrantRecipientGone: event(
    { reason: goneReason },
    ({ reason }, id) => `found that no recipient takes the grant of order ${id} (${reason})`,
    'order.recipient_gone',
  ),
  /** The buyer holds the grant. */
  OrderFulfilled: event({}, (_, id) => `gave the buyer the grant of order ${id}`, 'order.fulfilled'),
  FulfilmentRevoked: event({}, (_, id) => `took back the grant of order ${id}`, 'order.fulfilment_revoked'),
});

export type OrderEvent = EventIn<typeof orderEvents>;
export const { category: orderCategory, codec: orderCodec } = orderEvents;

/**
 * Returns the platform of a report, named `<platform>-<digest of the callback's key>.<index>`. It may differ from the
 * order's platform: an operator may have applied a payment of another one.
 * @throws ZodError for another form, which no log contains
 */
export function platformOf(callback: string): PaymentProviderName {
  return paymentProvider.parse(callback.slice(0, callback.indexOf('-')));
}

function grantInWords(grant: OrderGrant): string {
  return 'entitlement' in grant
    ? `the entitlement ${grant.entitlement}`
    : `a capacity of ${countInWords(grant.capacity_bytes, 'byte')}`;
}

function chargedInWords(charged: number | undefined, currency: string): string {
  return charged === undefined ? '' : `and ${moneyInWords(charged, currency)} charged `;
}

function disputedMoney({ amount, currency }: Disputed) {
  return { disputed_amount: amount ?? null, disputed_currency: currency ?? null };
}

function partInWords({ amount, currency }: Disputed): string {
  return amount === undefined || currency === undefined ? '' : `${moneyInWords(amount, currency)} of `;
}
