import { z } from 'zod';
import { currencyCode, minorAmount, paymentFact, paymentProvider } from '../domain/payment.js';

/** RFC 3339, UTC, milliseconds. */
const time = z.iso.datetime({ precision: 3 });

/** What can be bought (DESIGN 4.5). */
export const plan = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    prices: z.record(currencyCode, z.int()).meta({ description: 'Minor units by currency.' }),
    grants: z.union([
      z.strictObject({ capacity_bytes: z.int() }),
      z.strictObject({ entitlement: z.enum(['allow_s3']) }),
    ]),
  })
  .meta({ id: 'Plan' });

const orderFields = {
  id: z.uuid(),
  number: z
    .string()
    .length(26)
    .meta({ description: 'What the payment platform is given to name the order.' }),
  user_id: z.uuid(),
  project_id: z.uuid().nullable(),
  plan_id: z.string(),
  amount: minorAmount.meta({ description: 'Minor units.' }),
  currency: currencyCode,
  provider: paymentProvider,
  status: z.enum([
    'created',
    'pending',
    'paid',
    'fulfilled',
    'partially_refunded',
    'refunded',
    'disputed',
    'review',
    'failed',
    'expired',
    'canceled',
  ]),
  refunded_amount: minorAmount,
  paid_at: time.nullable(),
  expires_at: time,
  created_at: time,
  updated_at: time,
};

/** `order` of DESIGN 4.5, as it is listed. */
export const order = z.strictObject(orderFields).meta({ id: 'Order' });

const paymentKind = z.enum([
  'pending',
  'paid',
  'failed',
  'expired',
  'canceled',
  'refund',
  'disputed',
  'won',
  'lost',
  'mismatch',
  'applied',
  'dismissed',
]);

const payment = z
  .strictObject({
    provider: paymentProvider,
    transaction_id: z.string().nullable(),
    kind: paymentKind.meta({
      description:
        '`mismatch`: something genuine that is not what was ordered; `applied` or `dismissed`: what an operator made of it.',
    }),
    amount: minorAmount.nullable(),
    currency: currencyCode.nullable(),
    at: time.meta({ description: 'By the platform’s clock; of what an operator decided by ours.' }),
  })
  .meta({ id: 'Payment' });

/** With what platforms have reported of it. */
export const orderWithPayments = z
  .strictObject({ ...orderFields, payments: z.array(payment) })
  .meta({ id: 'OrderWithPayments' });

/** What waits for an operator's decision, by its name: a whole callback, or with its number one of the things that it tells. */
export const paymentId = z
  .string()
  .regex(/^[a-z]{1,16}-[0-9a-f]{64}(?:\.(?:0|[1-9][0-9]?))?$/)
  .meta({ description: '`id` of what is listed under `/admin/payments`.' });

/** Something that was reported of an order, and is not what was ordered. */
export const review = z
  .strictObject({
    id: paymentId,
    order_id: z.uuid(),
    order_number: z.string(),
    provider: paymentProvider,
    reason: z.enum(['amount', 'currency', 'merchant', 'transaction_of_another_order', 'too_many_reports']),
    kind: paymentKind.meta({ description: 'Only what is `paid` can be applied.' }),
    transaction_id: z.string().nullable(),
    amount: minorAmount.nullable().meta({ description: 'What was reported; minor units.' }),
    currency: currencyCode.nullable(),
    expected_amount: minorAmount.meta({ description: 'The order’s; minor units.' }),
    expected_currency: currencyCode,
    at: time.meta({ description: 'By the platform’s clock.' }),
  })
  .meta({ id: 'PaymentReview' });

const holdReason = z.enum([
  'unknown_order',
  'unlinked_transaction',
  'unreadable',
  'order_full',
  'transaction_full',
]);

const disposition = z.enum(['applied', 'already_applied', 'mismatch', 'ignored']);

const notifications = z.array(
  z.strictObject({
    order_number: z.string().nullable(),
    transaction_id: z.string().nullable(),
    fact: paymentFact,
    at: time.nullable(),
  }),
);

/** A callback that waits for its order. */
export const unmatched = z
  .strictObject({
    id: paymentId,
    provider: paymentProvider,
    reason: holdReason,
    is_ours: z.boolean().meta({ description: 'Whether it is of our account with the platform.' }),
    notifications,
    received_at: time,
  })
  .meta({ id: 'UnmatchedPayment' });

/** What an operator has decided on a payment. */
const paymentDecision = z
  .strictObject({
    payment_id: paymentId,
    action: z.enum(['apply', 'dismiss']),
    order_id: z.uuid().nullable().meta({ description: 'The order that it concerns.' }),
    note: z.string().nullable().meta({ description: 'Why; null once it is gone with the buyer’s account.' }),
    decided_by: z.string().meta({ description: '`user:<id>`, or `operator` at the command line.' }),
    decided_at: time,
  })
  .meta({ id: 'PaymentDecision' });

/** A callback, what has become of it, and what was decided on it. */
export const paymentCallback = z
  .strictObject({
    id: paymentId,
    provider: paymentProvider,
    is_ours: z.boolean().meta({ description: 'Whether it is of our account with the platform.' }),
    notifications,
    held: holdReason.nullable().meta({ description: 'Why it waits, or waited until it was decided on.' }),
    disposition: disposition.nullable().meta({ description: 'What it was settled as.' }),
    order_id: z.uuid().nullable().meta({ description: 'The order that it was settled with.' }),
    conflicts: z.int().meta({ description: 'How often other content came under its name.' }),
    received_at: time,
    decisions: z.array(paymentDecision),
  })
  .meta({ id: 'PaymentCallback' });

/** Anybody's order, as operators see it. */
export const orderForOperator = z
  .strictObject({ ...orderFields, payments: z.array(payment), decisions: z.array(paymentDecision) })
  .meta({ id: 'OrderForOperator' });

/** What became of a payment that an operator decided on. */
export const paymentResolution = z
  .strictObject({
    id: paymentId,
    action: z.enum(['apply', 'dismiss']),
    order_id: z.uuid().nullable().meta({ description: 'The order that it was settled with.' }),
    disposition: disposition.meta({
      description:
        '`mismatch`: it is not what was ordered, and waits in review; `ignored`: it changes nothing.',
    }),
  })
  .meta({ id: 'PaymentResolution' });
