import { z } from 'zod';
import { disposition } from '../domain/payment-callback/status.js';
import { currencyCode, paymentAction, paymentId } from '../domain/payment.js';
import { entityId } from '../domain/fields.js';

/** A plan (docs/design.md#plans-and-orders). */
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

/** The outcome of a payment that an operator decided on. */
export const paymentResolution = z
  .strictObject({
    id: paymentId,
    action: paymentAction,
    order_id: entityId.nullable().meta({ description: 'The order that it was settled with.' }),
    disposition: disposition.meta({
      description:
        '`mismatch`: it is not what was ordered, and waits in review; `ignored`: it changes nothing.',
    }),
  })
  .meta({ id: 'PaymentResolution' });
