import { z } from 'zod';

/** Why a payment callback waits; stored in `PaymentCallbackHeld`. */
export const holdReason = z.enum([
  'unknown_order',
  'unlinked_transaction',
  'unreadable',
  'order_full',
  'transaction_full',
]);

export type HoldReason = z.infer<typeof holdReason>;
