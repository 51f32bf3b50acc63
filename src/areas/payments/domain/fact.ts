import { z } from 'zod';
import { instant, namedObject } from '../../../validation/fields.js';

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
    namedObject('PaymentFactOther', {
      kind: z.enum(['pending', 'unpaid', 'failed', 'expired', 'canceled', 'approved', 'nothing']),
    }),
    /**
     * `amount`: the price that the shop asked for. `charged`: the money that moved, where tax, shipping or a discount make
     * it another amount.
     */
    namedObject('PaymentFactPaid', {
      kind: z.literal('paid'),
      ...money,
      charged: minorAmount.exactOptional(),
    }),
    /** The total that was refunded of the transaction so far. */
    namedObject('PaymentFactRefundedInTotal', { kind: z.literal('refunded-in-total'), ...money }),
    /** One refund with its id. `reversed`: the platform took the money back, which a refund of the same id reports again. */
    namedObject('PaymentFactRefund', {
      kind: z.literal('refund'),
      refund_id: z.string().min(1).max(256),
      status: refundStatus,
      ...money,
    }),
    namedObject('PaymentFactDispute', {
      kind: z.literal('dispute'),
      dispute_id: z.string().min(1).max(256),
      status: z.enum(['open', 'won', 'lost']),
      /** The disputed money; left out where the platform names none, and then the dispute is about the whole payment. */
      amount: minorAmount.exactOptional(),
      currency: currencyCode.exactOptional(),
    }),
    /** A genuine report of a relevant kind whose field `field` is missing or invalid. An operator reviews it. */
    namedObject('PaymentFactUnreadable', {
      kind: z.literal('unreadable'),
      field: z.string().min(1).max(256),
    }),
  ])
  .meta({ id: 'PaymentFact' });
export type PaymentFact = z.infer<typeof paymentFact>;

/** A fact of money that has moved, or may move back. */
export type MoneyFact = Extract<PaymentFact, { kind: 'paid' | 'refund' | 'refunded-in-total' | 'dispute' }>;

export function movesMoney(fact: PaymentFact): fact is MoneyFact {
  return ['paid', 'refund', 'refunded-in-total', 'dispute'].includes(fact.kind);
}

/** Returns the money of a fact or of the data of an event, or nulls if it names none. */
export function moneyOf(named: PaymentFact | Partial<Money>) {
  const { amount, currency }: Partial<Money> = 'amount' in named ? named : {};
  return { amount: amount ?? null, currency: currency ?? null };
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
