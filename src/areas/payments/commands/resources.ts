import { z } from 'zod';
import { disposition } from '../domain/payment.js';
import { orderForOperator, reviewReason } from '../../../../projections/payments/orders/resource.js';
import { paymentCallbackResource } from '../../../../projections/payments/payment-callbacks/reader.js';
import { orderStatusSchema } from '../domain/order/fold.js';
import { currencyCode } from '../domain/fact.js';
import { paymentAction, paymentId, paymentProvider } from '../domain/payment.js';
import { entityId, instant } from '../../../validation/fields.js';

/** A plan (src/areas/payments/README.md#plans-and-orders). */
export const plan = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    prices: z.record(currencyCode, z.int()).meta({ description: 'Minor units by currency.' }),
    grants: z.union([
      z.strictObject({ capacity_bytes: z.int() }).meta({ id: 'CapacityGrant' }),
      z.strictObject({ entitlement: z.enum(['allow_s3']) }).meta({ id: 'EntitlementGrant' }),
    ]),
  })
  .meta({ id: 'Plan' });

/** A platform that is set up, and how a buyer pays with it. */
export const paymentPlatform = z
  .strictObject({
    provider: paymentProvider,
    ways: z
      .array(
        z.union([
          z
            .strictObject({
              kind: z.literal('pay').meta({
                description: 'The service makes the payment at the platform: `POST /orders/{id}/pay`.',
              }),
            })
            .meta({ id: 'PaymentWayPay' }),
          z
            .strictObject({
              kind: z.literal('order_number').meta({
                description:
                  'The shop creates the payment at the platform, with the order’s `number`, amount and currency.',
              }),
              fields: z.array(z.string()).meta({
                description: 'The platform’s fields that may carry the number, the usual one first.',
              }),
            })
            .meta({ id: 'PaymentWayOrderNumber' }),
        ]),
      )
      .meta({ description: 'How an order is paid. Later releases may add kinds.' }),
  })
  .meta({ id: 'PaymentPlatform' });

/** How the buyer pays an order at its platform. */
export const orderPaymentWay = z
  .strictObject({
    provider: paymentProvider,
    kind: z.enum(['redirect', 'qr', 'form']).meta({
      description:
        '`redirect`: the browser opens `url`. `qr`: the app of the platform scans `url` as a QR code. ' +
        '`form`: the browser posts `fields` to `url`.',
    }),
    url: z.string(),
    fields: z.record(z.string(), z.string()).optional().meta({ description: 'For `form` alone.' }),
    expires_at: instant.meta({ description: 'Until then, every call returns this payment.' }),
  })
  .meta({ id: 'OrderPayment' });

/** A refund that the platform took on. */
export const orderRefund = z
  .strictObject({
    id: entityId,
    order_id: entityId,
    transaction_id: z.string(),
    refund_id: z.string().meta({ description: 'The platform’s id, which its callback names.' }),
    amount: z.int().meta({ description: 'Minor units.' }),
    currency: currencyCode,
  })
  .meta({ id: 'OrderRefund' });

/** The outcome of a payment that an operator decided on. */
export const paymentResolution = z
  .strictObject({
    id: paymentId,
    action: paymentAction,
    order_id: entityId.nullable().meta({ description: 'The order that it was settled with.' }),
    disposition: disposition.meta({
      description:
        '`mismatch`: it differs from the order, and waits in review; `ignored`: it changes nothing.',
    }),
  })
  .meta({ id: 'PaymentResolution' });

/** What is known of a transaction. */
export const foundPayments = z
  .strictObject({
    items: z.array(paymentCallbackResource).meta({ description: 'What was reported of it, and recorded.' }),
    orders: z
      .array(orderForOperator)
      .meta({ description: 'The orders that it pays, or that a report names.' }),
  })
  .meta({ id: 'FoundPayments' });

/** The outcome of a payment that an operator recorded. */
export const paymentRecord = z
  .strictObject({
    id: paymentId,
    order_id: entityId,
    order_number: z.string(),
    outcome: z.enum(['recorded', 'known']).meta({ description: '`known`: the same was recorded before.' }),
    disposition: disposition.nullable().meta({
      description: 'What it was settled as; null while it is held, as `unmatched` shows.',
    }),
    order_status: orderStatusSchema,
    in_review: z.array(reviewReason).meta({ description: 'Why payments of the order wait for an operator.' }),
  })
  .meta({ id: 'PaymentRecord' });
