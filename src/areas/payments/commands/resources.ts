import { z } from 'zod';
import { disposition } from '../domain/payment.js';
import { orderForOperator, reviewReason } from '../../../../projections/payments/orders/resource.js';
import { paymentCallbackResource } from '../../../../projections/payments/payment-callbacks/reader.js';
import { orderStatusSchema } from '../domain/order/fold.js';
import { currencyCode } from '../domain/fact.js';
import { paymentAction, paymentId, paymentProvider } from '../domain/payment.js';
import { entityId, instant, namedObject } from '../../../validation/fields.js';

/** A plan (src/areas/payments/README.md#plans-and-orders). */
export const plan = namedObject('Plan', {
  id: z.string(),
  name: z.string(),
  prices: z.record(currencyCode, z.int()).describe('Minor units by currency.'),
  grants: z.union([
    namedObject('CapacityGrant', { capacity_bytes: z.int() }),
    namedObject('EntitlementGrant', { entitlement: z.enum(['allow_s3']) }),
  ]),
});

/** A platform that is set up, and how a buyer pays with it. */
export const paymentPlatform = namedObject('PaymentPlatform', {
  provider: paymentProvider,
  ways: z
    .array(
      z.union([
        namedObject('PaymentWayPay', {
          kind: z
            .literal('pay')
            .describe('The service makes the payment at the platform: `POST /orders/{id}/pay`.'),
        }),
        namedObject('PaymentWayOrderNumber', {
          kind: z
            .literal('order_number')
            .describe(
              'The shop creates the payment at the platform, with the order’s `number`, amount and currency.',
            ),
          fields: z
            .array(z.string())
            .describe('The platform’s fields that may carry the number, the usual one first.'),
        }),
      ]),
    )
    .describe('How an order is paid. Later releases may add kinds.'),
});

/** How the buyer pays an order at its platform. */
export const orderPaymentWay = namedObject('OrderPayment', {
  provider: paymentProvider,
  kind: z
    .enum(['redirect', 'qr', 'form'])
    .describe(
      '`redirect`: the browser opens `url`. `qr`: the app of the platform scans `url` as a QR code. ' +
        '`form`: the browser posts `fields` to `url`.',
    ),
  url: z.string(),
  fields: z.record(z.string(), z.string()).optional().describe('For `form` alone.'),
  expires_at: instant.describe('Until then, every call returns this payment.'),
});

/** A refund that the platform took on. */
export const orderRefund = namedObject('OrderRefund', {
  id: entityId,
  order_id: entityId,
  transaction_id: z.string(),
  refund_id: z.string().describe('The platform’s id, which its callback names.'),
  amount: z.int().describe('Minor units.'),
  currency: currencyCode,
});

/** The outcome of a payment that an operator decided on. */
export const paymentResolution = namedObject('PaymentResolution', {
  id: paymentId,
  action: paymentAction,
  order_id: entityId.nullable().describe('The order that it was settled with.'),
  disposition: disposition.describe(
    '`mismatch`: it differs from the order, and waits in review; `ignored`: it changes nothing.',
  ),
});

/** What is known of a transaction. */
export const foundPayments = namedObject('FoundPayments', {
  items: z.array(paymentCallbackResource).describe('What was reported of it, and recorded.'),
  orders: z.array(orderForOperator).describe('The orders that it pays, or that a report names.'),
});

/** The outcome of a payment that an operator recorded. */
export const paymentRecord = namedObject('PaymentRecord', {
  id: paymentId,
  order_id: entityId,
  order_number: z.string(),
  outcome: z.enum(['recorded', 'known']).describe('`known`: the same was recorded before.'),
  disposition: disposition
    .nullable()
    .describe('What it was settled as; null while it is held, as `unmatched` shows.'),
  order_status: orderStatusSchema,
  in_review: z.array(reviewReason).describe('Why payments of the order wait for an operator.'),
});
