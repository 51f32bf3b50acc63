import { z } from 'zod';
import type { Commands } from '../../areas/commands.js';
import { paymentProvider } from '../../areas/payments/domain/payment.js';
import type { Route } from '../../http/route.js';
import { changing } from './operator-route.js';

const period = z.strictObject({
  provider: paymentProvider,
  from: z.iso.datetime(),
  to: z.iso.datetime().optional(),
  after: z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/)
    .optional(),
});

/** Makes the route that asks a platform for what its callbacks did not report (docs/payments/resolving.md#see-and-decide). */
export function makeReconcileOperations({
  reconcilePayments,
}: Pick<Commands, 'reconcilePayments'>): readonly Route[] {
  return [
    changing('payments reconcile', period, ({ provider, from, to, after = null }, context) =>
      reconcilePayments(
        { provider, from: new Date(from), to: to === undefined ? context.time : new Date(to), after },
        context,
      ),
    ),
  ];
}
