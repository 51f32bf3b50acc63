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

const payment = z
  .strictObject({
    provider: paymentProvider,
    transaction_id: z.string().nullable(),
    kind: z.enum([
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
    ]),
    amount: minorAmount.nullable(),
    currency: currencyCode.nullable(),
    at: time.meta({ description: 'By the platform’s clock.' }),
  })
  .meta({ id: 'Payment' });

/** With what platforms have reported of it. */
export const orderWithPayments = z
  .strictObject({ ...orderFields, payments: z.array(payment) })
  .meta({ id: 'OrderWithPayments' });

/** An order of which something waits for an operator's decision. */
export const review = z
  .strictObject({
    id: z.uuid().meta({ description: 'Of the order.' }),
    order,
    mismatches: z.array(
      z.strictObject({
        id: z.string().meta({ description: 'Names it to whoever resolves it.' }),
        reason: z.enum(['amount', 'currency', 'merchant', 'transaction_of_another_order']),
        transaction_id: z.string().nullable(),
        amount: minorAmount.nullable(),
        currency: currencyCode.nullable(),
        at: time,
      }),
    ),
  })
  .meta({ id: 'PaymentReview' });

/** A callback that waits for its order. */
export const unmatched = z
  .strictObject({
    id: z.string(),
    provider: paymentProvider,
    is_ours: z.boolean(),
    notifications: z.array(
      z.strictObject({
        order_number: z.string().nullable(),
        transaction_id: z.string().nullable(),
        fact: paymentFact,
        at: time.nullable(),
      }),
    ),
    reason: z.enum(['unknown_order', 'unlinked_transaction', 'unreadable']),
    received_at: time,
  })
  .meta({ id: 'UnmatchedPayment' });
