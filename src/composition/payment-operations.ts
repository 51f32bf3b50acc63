import { z } from 'zod';
import type { ResolvePayment } from '../commands/resolve-payment.js';
import { defineOperation, type Operation } from '../control/operations.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';
import { paymentId } from '../http/order-resources.js';
import { pageQueryBy, readPage } from '../http/paging.js';
import { reviewCursor } from '../http/routes/payments.js';
import { reviewPlace } from '../../projections/orders/reader.js';
import type { Readers } from './readers.js';

const resolution = z.strictObject({
  id: z.string(),
  action: z.enum(['apply', 'dismiss']),
  order_id: z.uuid().toLowerCase().nullable(),
  note: z.string(),
});

/** What operators see and decide of payments: DESIGN 4.5. */
export function makePaymentOperations(
  {
    commands: { resolvePayment },
    readers: { paymentCallbacks, orders },
  }: {
    readonly commands: { readonly resolvePayment: ResolvePayment };
    readonly readers: Pick<Readers, 'paymentCallbacks' | 'orders'>;
  },
  context: () => CommandContext,
): readonly Operation[] {
  return [
    defineOperation('payments unmatched', pageQueryBy(paymentId), (query) =>
      readPage(query, (page) => paymentCallbacks.unmatched(page)),
    ),
    defineOperation('payments review', pageQueryBy(reviewCursor), (query) =>
      readPage(query, (page) => orders.inReview(page), reviewPlace),
    ),
    defineOperation('payments resolve', resolution, async ({ order_id: orderId, ...decision }) => {
      const { orderId: settledWith, ...resolved } = await resolvePayment({ ...decision, orderId }, context());
      return { ...resolved, order_id: settledWith };
    }),
  ];
}
