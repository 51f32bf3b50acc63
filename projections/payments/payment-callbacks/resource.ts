import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import {
  disposition,
  holdReason,
  paymentFact,
  paymentId,
  paymentProvider,
} from '../../../src/areas/payments/domain/payment.js';
import { paymentDecision, paymentRecorded } from '../payment-decisions/resource.js';

const notifications = z.array(
  z.strictObject({
    order_number: z.string().nullable(),
    transaction_id: z.string().nullable(),
    fact: paymentFact,
    at: instant.nullable(),
  }),
);

/** The oldest report of a transaction that waits for its order, for the payment that it names, or for an operator. */
export const unmatchedResource = z
  .strictObject({
    id: paymentId,
    provider: paymentProvider,
    reason: holdReason,
    is_ours: z.boolean().meta({ description: 'Whether it is of our account with the platform.' }),
    notifications,
    received_at: instant,
  })
  .meta({ id: 'UnmatchedPayment' });
export type UnmatchedResource = z.infer<typeof unmatchedResource>;

/** A callback with its outcome and the decisions on it. */
export const paymentCallbackResource = z
  .strictObject({
    id: paymentId,
    provider: paymentProvider,
    is_ours: z.boolean().meta({ description: 'Whether it is of our account with the platform.' }),
    notifications,
    held: holdReason
      .nullable()
      .meta({ description: 'Why it waits; null once it has an order or a decision.' }),
    disposition: disposition.nullable().meta({ description: 'What it was settled as.' }),
    order_id: entityId.nullable().meta({ description: 'The order that it was settled with.' }),
    conflicts: z.int().meta({ description: 'How often other content came under its name.' }),
    received_at: instant,
    recorded: paymentRecorded
      .nullable()
      .meta({ description: 'Who recorded it by hand; null for a callback.' }),
    decisions: z.array(paymentDecision),
  })
  .meta({ id: 'PaymentCallback' });
export type PaymentCallbackResource = z.infer<typeof paymentCallbackResource>;
