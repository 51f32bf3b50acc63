// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { byteCount, entityId, instant } from '../../../../validation/fields.js';
import { currencyCode, minorAmount, paymentFact, refundStatus, transactionId } from '../fact.js';
import { paymentAction, paymentProvider, type PaymentProviderName, resolutionNote } from '../payment.js';
import { goneReason } from './unused.js';

/** Streams `order-<order id>`. */
export const orderCategory = 'order';

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
/** The platform's time; the receipt of the callback if it names none. */
const at = instant;

const schemas = {
  OrderPlaced: z.strictObject({
    user_id: entityId,
    project_id: entityId.nullable(),
    plan_id: z.string().min(1),
    grant: orderGrant,
    provider: paymentProvider,
    amount: minorAmount,
    currency: currencyCode,
    expires_at: instant,
  }),
  /** `is_unpaid`: the payment waits for the buyer, and not for the platform. */
  PaymentPending: z.strictObject({
    ...callback,
    transaction_id: transactionId.nullable(),
    is_unpaid: z.literal(true).exactOptional(),
    at,
  }),
  /** The amount and currency are the order's. `charged`: the money that moved, where it is another amount. */
  PaymentCaptured: z.strictObject({
    ...callback,
    transaction_id: transactionId,
    amount: minorAmount,
    charged: minorAmount.exactOptional(),
    currency: currencyCode,
    at,
  }),
  PaymentFailed: z.strictObject({
    ...callback,
    reason: z.enum(['failed', 'expired', 'canceled']),
    transaction_id: transactionId.nullable(),
    at,
  }),
  /** No payment came in time. */
  OrderExpired: z.strictObject({}),
  OrderCanceled: z.strictObject({}),
  RefundReported: z.strictObject({
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
  }),
  DisputeOpened: z.strictObject({
    ...callback,
    transaction_id: transactionId,
    dispute_id: z.string().min(1),
    ...disputed,
    at,
  }),
  DisputeClosed: z.strictObject({
    ...callback,
    transaction_id: transactionId,
    dispute_id: z.string().min(1),
    outcome: z.enum(['won', 'lost']),
    ...disputed,
    at,
  }),
  /** A genuine report that differs from the order. An operator reviews it. */
  PaymentMismatchFound: z.strictObject({
    ...callback,
    /** The platform of the callback, which may differ from the order's. */
    provider: paymentProvider,
    reason: mismatchReason,
    transaction_id: transactionId.nullable(),
    fact: paymentFact,
    at,
  }),
  /** An operator's decision on a mismatch. A decision on a payment covers other reports of it: see `review.ts`. */
  ReviewResolved: z.strictObject({ ...callback, action: paymentAction, ...resolutionNote }),
  /** The order is paid, and its grant has no recipient: the buyer is erased, or the project is deleted. */
  GrantRecipientGone: z.strictObject({ reason: goneReason }),
  /** The buyer holds the grant. */
  OrderFulfilled: z.strictObject({}),
  FulfilmentRevoked: z.strictObject({}),
};

export type OrderEvent = EventOf<typeof schemas>;
export const orderCodec = makeEventCodec(schemas);

/**
 * Returns the platform of a report, named `<platform>-<digest of the callback's key>.<index>`. It may differ from the
 * order's platform: an operator may have applied a payment of another one.
 * @throws ZodError for another form, which no log contains
 */
export function platformOf(callback: string): PaymentProviderName {
  return paymentProvider.parse(callback.slice(0, callback.indexOf('-')));
}
