import { z } from 'zod';
import { holdReason } from '../../domain/payment.js';
import { paymentProvider } from '../../domain/payment.js';
import type { DismissUnmatchedInput } from '../reviews/dismiss-unmatched.js';

/** The time and the id of a report: see `unmatchedPlace`. */
export const unmatchedCursor = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z\/[a-z]{1,16}-[0-9a-f]{64}@[0-9]{1,9}$/);
/** The id of an order and the name of a mismatch: see `reviewPlace`. */
export const reviewCursor = z
  .string()
  .regex(/^[0-9a-f-]{36}\/[a-z]{1,16}-[0-9a-f]{64}(?:@[0-9]{1,9})?\.[0-9]{1,2}$/);

export const dismissalRequest = z
  .strictObject({
    reason: holdReason,
    provider: paymentProvider.optional().meta({ description: 'Of any, when it is left out.' }),
    received_before: z.iso.datetime().meta({ description: 'Only what was received before.' }),
    note: z
      .string()
      .min(1)
      .max(1_000)
      .meta({ description: 'Why; each decision carries it. It is kept sealed.' }),
    after: unmatchedCursor.nullable().default(null).meta({ description: '`next` of the call before.' }),
  })
  .meta({ id: 'DismissalRequest' });

/** An order's id, or the number that the platform carries. */
export const orderIdOrNumber = z.union([z.uuid().toLowerCase(), z.string().regex(/^[0-9A-Za-z]{26}$/)]);

export function toDismissal({
  provider,
  received_before: receivedBefore,
  ...rest
}: z.output<typeof dismissalRequest>): DismissUnmatchedInput {
  return { ...rest, provider: provider ?? null, receivedBefore: new Date(receivedBefore) };
}
