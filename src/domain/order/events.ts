// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { byteCount, entityId, instant } from '../fields.js';
import {
  currencyCode,
  minorAmount,
  paymentFact,
  paymentProvider,
  type PaymentProviderName,
  resolutionNote,
  transactionId,
} from '../payment.js';

/** What a paid order gives. */
export const orderGrant = z.union([
  z.strictObject({ capacity_bytes: byteCount }),
  z.strictObject({ entitlement: z.enum(['allow_s3']) }),
]);
export type OrderGrant = z.infer<typeof orderGrant>;

/** What came of one thing that a callback tells: `<id of the callback's stream>.<index>`; see `platformOf`. The same one never counts twice. */
const callback = { callback: z.string().min(1) };
/** The platform's own time; the callback's where it tells none. */
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
  PaymentPending: z.strictObject({ ...callback, transaction_id: transactionId.nullable(), at }),
  /** The amount and currency are the order's. */
  PaymentCaptured: z.strictObject({
    ...callback,
    transaction_id: transactionId,
    amount: minorAmount,
    currency: currencyCode,
    at,
  }),
  PaymentFailed: z.strictObject({
    ...callback,
    reason: z.enum(['failed', 'expired', 'canceled']),
    transaction_id: transactionId.nullable(),
    at,
  }),
  /** Nobody paid in time. */
  OrderExpired: z.strictObject({}),
  OrderCanceled: z.strictObject({}),
  RefundReported: z.strictObject({
    ...callback,
    transaction_id: transactionId,
    /** One refund by its id, or all of them so far. */
    refund: z.union([
      z.strictObject({ refund_id: z.string().min(1), status: z.enum(['pending', 'succeeded', 'failed']) }),
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
    at,
  }),
  DisputeClosed: z.strictObject({
    ...callback,
    transaction_id: transactionId,
    dispute_id: z.string().min(1),
    outcome: z.enum(['won', 'lost']),
    at,
  }),
  /** Genuine, and not what was ordered: for people to look at. */
  PaymentMismatchFound: z.strictObject({
    ...callback,
    /** Whose callback it is; another's than the order's is one of the reasons. */
    provider: paymentProvider,
    reason: z.enum(['amount', 'currency', 'merchant', 'transaction_of_another_order', 'too_many_reports']),
    transaction_id: transactionId.nullable(),
    fact: paymentFact,
    at,
  }),
  /** What people have made of a mismatch. The decision on a payment holds for all that is told of it: see `review.ts`. */
  ReviewResolved: z.strictObject({ ...callback, action: z.enum(['apply', 'dismiss']), ...resolutionNote }),
  /** What was bought is granted. */
  OrderFulfilled: z.strictObject({}),
  FulfilmentRevoked: z.strictObject({}),
};

export type OrderEvent = EventOf<typeof schemas>;
export const orderCodec = makeEventCodec(schemas);

/**
 * The platform that has told it: the name of what a callback tells, `<platform>-<digest of the callback's key>.<index>`, begins with
 * it. It is not always the order's: an operator may have taken a payment by another for the order's own.
 * @throws ZodError for what is no such name, which no log holds
 */
export function platformOf(callback: string): PaymentProviderName {
  return paymentProvider.parse(callback.slice(0, callback.indexOf('-')));
}
