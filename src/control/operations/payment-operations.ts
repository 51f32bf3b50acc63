import { z } from 'zod';
import type { DismissUnmatched } from '../../commands/orders/dismiss-unmatched.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import { rejectPaymentCallback } from '../../domain/payment-callback/rejections.js';
import { paymentAction, paymentId } from '../../domain/payment.js';
import type { ResolvePayment } from '../../commands/orders/resolve-payment.js';
import { defineOperation, type Operation } from '../operation.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { pageQueryBy, readPage } from '../../../projections/paging.js';
import {
  dismissalRequest,
  orderIdOrNumber,
  reviewCursor,
  toDismissal,
  unmatchedCursor,
} from '../../commands/orders/payment-requests.js';
import { reviewPlace } from '../../../projections/orders/reader.js';
import { unmatchedPlace } from '../../../projections/payment-callbacks/reader.js';
import type { Readers } from '../../../projections/readers.js';

const resolution = z.strictObject({
  id: z.string(),
  action: paymentAction,
  order_id: z.uuid().toLowerCase().nullable(),
  note: z.string(),
});

/** Makes the operations of payment review (docs/design.md#payment-review). */
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
