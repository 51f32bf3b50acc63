import { z } from 'zod';
import { sealedSchema } from '../../../event-sourcing/ports/sealed.js';
import { entityId, hexDigest, instant } from '../../../validation/fields.js';

/** The platforms whose callbacks the service accepts (src/areas/payments/README.md#payment-callbacks). */
export const paymentProvider = z
  .enum(['stripe', 'wechatpay', 'alipay', 'paypal', 'standard', 'epay'])
  .meta({ id: 'PaymentProvider' });
export type PaymentProviderName = z.infer<typeof paymentProvider>;

/** Minor units: cents, fen, yen. */
export const minorAmount = z.int().nonnegative();

/** ISO 4217. */
export const currencyCode = z.string().regex(/^[A-Z]{3}$/);

/**
 * An amount in minor units and its currency (ISO 4217). The amount is a safe integer and never negative. A type alias,
 * because documents contain it and an interface has no index signature.
 */
export type Money = { readonly amount: number; readonly currency: string };

/** A platform's id of a payment. It names no person. */
export const transactionId = z.string().min(1).max(256);

const money = { amount: minorAmount, currency: currencyCode };

export const refundStatus = z.enum(['pending', 'succeeded', 'failed', 'reversed']);

/** A fact that a platform reports, in the form that events store. */
export const paymentFact = z
  .discriminatedUnion('kind', [
    /**
     * `pending`: the buyer has paid, and the platform decides. `unpaid`: the payment waits for the buyer to act.
     * `approved`: the buyer agreed to a payment, and the platform takes the money when the service asks for it.
     * `nothing`: a genuine report that does not concern the service.
     */
    z
      .strictObject({
        kind: z.enum(['pending', 'unpaid', 'failed', 'expired', 'canceled', 'approved', 'nothing']),
      })
      .meta({ id: 'PaymentFactOther' }),
    /**
     * `amount`: the price that the shop asked for. `charged`: the money that moved, where tax, shipping or a discount make
     * it another amount.
     */
    z
      .strictObject({ kind: z.literal('paid'), ...money, charged: minorAmount.exactOptional() })
      .meta({ id: 'PaymentFactPaid' }),
    /** The total that was refunded of the transaction so far. */
    z
      .strictObject({ kind: z.literal('refunded-in-total'), ...money })
      .meta({ id: 'PaymentFactRefundedInTotal' }),
    /** One refund with its id. `reversed`: the platform took the money back, which a refund of the same id reports again. */
    z
      .strictObject({
        kind: z.literal('refund'),
        refund_id: z.string().min(1).max(256),
        status: refundStatus,
        ...money,
      })
      .meta({ id: 'PaymentFactRefund' }),
    z
      .strictObject({
        kind: z.literal('dispute'),
        dispute_id: z.string().min(1).max(256),
        status: z.enum(['open', 'won', 'lost']),
        /** The disputed money; left out where the platform names none, and then the dispute is about the whole payment. */
        amount: minorAmount.exactOptional(),
        currency: currencyCode.exactOptional(),
      })
      .meta({ id: 'PaymentFactDispute' }),
    /** A genuine report of a relevant kind whose field `field` is missing or invalid. An operator reviews it. */
    z
      .strictObject({ kind: z.literal('unreadable'), field: z.string().min(1).max(256) })
      .meta({ id: 'PaymentFactUnreadable' }),
  ])
  .meta({ id: 'PaymentFact' });
export type PaymentFact = z.infer<typeof paymentFact>;

/** Returns whether money has moved, or may move back. */
export function movesMoney({ kind }: PaymentFact): boolean {
  return kind === 'paid' || kind === 'refund' || kind === 'refunded-in-total' || kind === 'dispute';
}

/** Returns the money of a fact, or nulls if the fact names none. */
export function moneyOf(fact: PaymentFact): {
  readonly amount: number | null;
  readonly currency: string | null;
} {
  return 'amount' in fact
    ? { amount: fact.amount ?? null, currency: fact.currency ?? null }
    : { amount: null, currency: null };
}

/**
 * One fact of a callback. A payment, refund or dispute names its transaction. Any other fact, except `nothing` and
 * `unreadable`, names the order or the transaction.
 */
export const paymentNotification = z.strictObject({
  /** The order's number at the platform, for example out_trade_no. Events store `foreign` for one that is not ours. */
  order_number: z.string().min(1).max(256).nullable(),
  /** A payment has the same id in all messages of the platform. Refunds and disputes name the id of their payment. */
  transaction_id: transactionId.nullable(),
  /** The platform's id of what was made for the buyer, such as a session, where the message names it. */
  reference: z.string().min(1).max(256).exactOptional(),
  /** The platform's id of the event that an approval came with: a callback and a list tell the same event. */
  event: z.string().min(1).max(256).exactOptional(),
  fact: paymentFact,
  /** The platform's time of the fact. */
  at: instant.nullable(),
});
export type PaymentNotification = z.infer<typeof paymentNotification>;

/** Names a report: its stream and `@<revision>`. With `.<index>` it names one of its facts. */
export const paymentId = z
  .string()
  .regex(/^[a-z]{1,16}-[0-9a-f]{64}@(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]?))?$/)
  .meta({
    id: 'PaymentId',
    description: '`id` of what is listed under `/admin/payments`.',
    examples: [`stripe-${'0'.repeat(64)}@0`],
  });

/** The outcome of a report. */
export const disposition = z
  .enum(['applied', 'already_applied', 'mismatch', 'ignored'])
  .meta({ id: 'PaymentDisposition' });
export type Disposition = z.infer<typeof disposition>;

/** Why a report waits. */
export const holdReason = z
  .enum(['unknown_order', 'unlinked_transaction', 'unreadable', 'order_full', 'transaction_full'])
  .meta({ id: 'PaymentHoldReason' });
export type HoldReason = z.infer<typeof holdReason>;

/** Bounds the conflicts that a stream records: docs/decisions/payments-callbacks.md#0014-verified-or-refused. */
export const conflictsMax = 10;

/** An operator's decision on a payment. */
export const paymentAction = z.enum(['apply', 'dismiss']).meta({ id: 'PaymentAction' });
export type PaymentAction = z.infer<typeof paymentAction>;

/** An operator's reason for a decision on a payment. It may name people, so it is sealed. */
export const resolutionNote = {
  note: sealedSchema,
  /** The person whose key seals the note: the order's buyer. Null: the note has a separate key. */
  note_of: entityId.nullable(),
  /** Keyed digest, by which `decide` recognises a repeated decision. */
  note_digest: hexDigest,
};
export type ResolutionNote = z.infer<z.ZodObject<typeof resolutionNote>>;
