import { z } from 'zod';
import { mismatchReason } from '../../../src/areas/payments/domain/order/events.js';
import { unusedReason } from '../../../src/areas/payments/domain/order/unused.js';
import { orderStatusSchema } from '../../../src/areas/payments/domain/order/fold.js';
import { currencyCode, minorAmount } from '../../../src/areas/payments/domain/fact.js';
import { paymentId, paymentProvider } from '../../../src/areas/payments/domain/payment.js';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { paymentDecision } from '../payment-decisions/reader.js';

const orderFields = {
  id: entityId,
  number: z.string().length(26).describe('What the payment platform is given to name the order.'),
  user_id: entityId,
  project_id: entityId.nullable(),
  plan_id: z.string(),
  amount: minorAmount.describe('Minor units.'),
  currency: currencyCode,
  provider: paymentProvider,
  status: orderStatusSchema,
  refunded_amount: minorAmount,
  paid_at: instant.nullable(),
  expires_at: instant,
  created_at: instant,
  updated_at: instant,
};

/** An order as it is listed (src/areas/payments/README.md#plans-and-orders). */
export const listedOrder = namedObject('Order', orderFields);

const paymentKind = z
  .enum([
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
  ])
  .meta({ id: 'PaymentKind' });

/** A report of a platform about an order, or a decision of an operator. Money is null where the report names none. */
const paymentEntry = namedObject('Payment', {
  provider: paymentProvider,
  transaction_id: z.string().nullable(),
  kind: paymentKind.describe(
    '`mismatch`: a genuine report that differs from the order; `applied` or `dismissed`: the decision of an operator.',
  ),
  amount: minorAmount.nullable(),
  currency: currencyCode.nullable(),
  at: instant.describe('By the platform’s clock; of what an operator decided by ours.'),
});
export type PaymentEntry = z.infer<typeof paymentEntry>;

/** An order with the payments that platforms have reported. */
export const orderResource = namedObject('OrderWithPayments', {
  ...orderFields,
  payments: z.array(paymentEntry),
});
export type OrderResource = z.infer<typeof orderResource>;

/** An order for operators. `decisions`: the last 100 on mismatches, and at most 100 that applied a callback to it. */
export const orderForOperator = namedObject('OrderForOperator', {
  ...orderFields,
  payments: z.array(paymentEntry),
  decisions: z.array(paymentDecision),
});

/** Why a payment waits for an operator: it differs from its order, or it bought nothing. */
export const reviewReason = z
  .enum([...mismatchReason.options, ...unusedReason.options])
  .meta({ id: 'PaymentReviewReason' });

/** A report about an order that differs from the order, or a payment that bought nothing. */
export const reviewResource = namedObject('PaymentReview', {
  id: paymentId,
  order_id: entityId,
  order_number: z.string(),
  provider: paymentProvider,
  reason: reviewReason,
  kind: paymentKind.describe('Only what is `paid` and bought something can be applied.'),
  transaction_id: z.string().nullable(),
  amount: minorAmount.nullable().describe('What was reported; minor units.'),
  currency: currencyCode.nullable(),
  expected_amount: minorAmount.describe('The order’s; minor units.'),
  expected_currency: currencyCode,
  at: instant.describe('By the platform’s clock.'),
});
export type ReviewResource = z.infer<typeof reviewResource>;
