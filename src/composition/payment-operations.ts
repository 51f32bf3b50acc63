import { z } from 'zod';
import type { DismissUnmatched } from '../commands/dismiss-unmatched.js';
import { rejectOrder } from '../domain/order/rejections.js';
import { rejectPaymentCallback } from '../domain/payment-callback/rejections.js';
import type { ResolvePayment } from '../commands/resolve-payment.js';
import { defineOperation, type Operation } from '../control/operations.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';
import { paymentId } from '../http/order-resources.js';
import { pageQueryBy, readPage } from '../http/paging.js';
import {
  dismissalRequest,
  orderIdOrNumber,
  reviewCursor,
  toDismissal,
  unmatchedCursor,
} from '../http/routes/payments.js';
import { reviewPlace } from '../../projections/orders/reader.js';
import { unmatchedPlace } from '../../projections/payment-callbacks/reader.js';
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
    commands: { resolvePayment, dismissUnmatched },
    readers: { paymentCallbacks, orders },
  }: {
    readonly commands: {
      readonly resolvePayment: ResolvePayment;
      readonly dismissUnmatched: DismissUnmatched;
    };
    readonly readers: Pick<Readers, 'paymentCallbacks' | 'orders'>;
  },
  context: () => CommandContext,
): readonly Operation[] {
  return [
    defineOperation('payments unmatched', pageQueryBy(unmatchedCursor), (query) =>
      readPage(query, (page) => paymentCallbacks.unmatched(page), unmatchedPlace),
    ),
    defineOperation('payments review', pageQueryBy(reviewCursor), (query) =>
      readPage(query, (page) => orders.inReview(page), reviewPlace),
    ),
    defineOperation('payments show', z.strictObject({ id: paymentId }), async ({ id }) => {
      const found = await paymentCallbacks.find(id.split('.')[0] ?? '');
      return found ?? rejectPaymentCallback('payment_callback_not_found', 'there is no such payment');
    }),
    defineOperation('payments order', z.strictObject({ id: orderIdOrNumber }), async ({ id }) => {
      const found = await orders.forOperator(id);
      return found ?? rejectOrder('order_not_found', 'there is no such order');
    }),
    defineOperation('payments dismiss', dismissalRequest, async (request) => ({
      ...(await dismissUnmatched(toDismissal(request), context())),
    })),
    defineOperation('payments resolve', resolution, async ({ order_id: orderId, ...decision }) => {
      const { orderId: settledWith, ...resolved } = await resolvePayment({ ...decision, orderId }, context());
      return { ...resolved, order_id: settledWith };
    }),
  ];
}
