import { z } from 'zod';
import { sealedSchema } from '../event-sourcing/sealed.js';
import { entityId, hexDigest, instant } from './fields.js';

/** The platforms whose callbacks are taken (DESIGN 4.5). */
export const paymentProvider = z.enum(['stripe', 'wechatpay', 'alipay', 'paypal', 'standard', 'epay']);
export type PaymentProviderName = z.infer<typeof paymentProvider>;

/** Minor units: cents, fen, yen. */
export const minorAmount = z.int().nonnegative();

/** ISO 4217. */
export const currencyCode = z.string().regex(/^[A-Z]{3}$/);

/** A platform's id of a payment; it names no person. */
export const transactionId = z.string().min(1).max(256);

/** What a platform says has happened, as a callback's event keeps it (see `PaymentFact` of the payment integrations). */
export const paymentFact = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['pending', 'failed', 'expired', 'canceled', 'nothing']) }),
  z.strictObject({ kind: z.literal('paid'), amount: minorAmount, currency: currencyCode }),
  z.strictObject({ kind: z.literal('refunded-in-total'), amount: minorAmount, currency: currencyCode }),
  z.strictObject({
    kind: z.literal('refund'),
    refund_id: z.string().min(1).max(256),
    status: z.enum(['pending', 'succeeded', 'failed']),
    amount: minorAmount,
    currency: currencyCode,
  }),
  z.strictObject({
    kind: z.literal('dispute'),
    dispute_id: z.string().min(1).max(256),
    status: z.enum(['open', 'won', 'lost']),
  }),
  /** It matters, but the field named is missing or makes no sense. */
  z.strictObject({ kind: z.literal('unreadable'), field: z.string().min(1).max(256) }),
]);
export type RecordedFact = z.infer<typeof paymentFact>;

/** One thing that a callback says. */
export const paymentNotification = z.strictObject({
  /** Of an order of ours; `foreign` where the platform names something else. */
  order_number: z.string().min(1).max(256).nullable(),
  transaction_id: transactionId.nullable(),
  fact: paymentFact,
  /** The platform's own time of it. */
  at: instant.nullable(),
});
export type RecordedNotification = z.infer<typeof paymentNotification>;

/** Why somebody has decided on a payment; it may name people. */
export const resolutionNote = {
  note: sealedSchema,
  /** The person whose key it is sealed with, the order's buyer; null: it has a key of its own. */
  note_of: entityId.nullable(),
  /** Keyed, so that the same decision is known when it comes again. */
  note_digest: hexDigest,
};
export type ResolutionNote = z.infer<z.ZodObject<typeof resolutionNote>>;
