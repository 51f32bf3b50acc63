import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { paymentNotification } from '../../../src/areas/payments/domain/fact.js';
import {
  disposition,
  holdReason,
  paymentId,
  paymentProvider,
} from '../../../src/areas/payments/domain/payment.js';
import { paymentDecision, paymentRecorded } from '../payment-decisions/resource.js';

/** What a platform reported. */
const reported = {
  id: paymentId,
  provider: paymentProvider,
  is_ours: z.boolean().meta({ description: 'Whether it is of our account with the platform.' }),
  notifications: z.array(
    paymentNotification.pick({ order_number: true, transaction_id: true, fact: true, at: true }),
  ),
  received_at: instant,
};

/** The oldest report of a transaction that is pending: it waits for its order, or for an operator. */
export const unmatchedResource = z
  .strictObject({ ...reported, reason: holdReason })
  .meta({ id: 'UnmatchedPayment' });
export type UnmatchedResource = z.infer<typeof unmatchedResource>;

/** A report with its outcome and the decisions on it. */
export const paymentCallbackResource = z
  .strictObject({
    ...reported,
    held: holdReason
      .nullable()
      .meta({ description: 'Why it waits; null once it has an order or a decision.' }),
    disposition: disposition.nullable().meta({ description: 'What it was applied as.' }),
    order_id: entityId.nullable().meta({ description: 'The order that it was applied to.' }),
    conflicts: z.int().meta({ description: 'How often other content came under its name.' }),
    recorded: paymentRecorded
      .nullable()
      .meta({ description: 'Who recorded it by hand; null for a callback.' }),
    decisions: z.array(paymentDecision),
  })
  .meta({ id: 'PaymentCallback' });
export type PaymentCallbackResource = z.infer<typeof paymentCallbackResource>;
