import { z } from 'zod';
import type { DismissUnmatched } from '../../areas/payments/commands/reviews/dismiss-unmatched.js';
import { rejectOrder } from '../../areas/payments/domain/order/rejections.js';
import { rejectPayment } from '../../areas/payments/domain/transaction/rejections.js';
import {
  paymentAction,
  paymentId,
  paymentProvider,
  transactionId,
} from '../../areas/payments/domain/payment.js';
import type { ResolvePayment } from '../../areas/payments/commands/reviews/resolve-payment.js';
import type { FindPayments } from '../../areas/payments/commands/callbacks/find-payments.js';
import type { RecordPayment } from '../../areas/payments/commands/reviews/record-payment.js';
import type { ReconcilePayments } from '../../areas/payments/commands/reconciling/reconcile-payments.js';
import { recordRequest } from '../../areas/payments/commands/reviews/record-request.js';
import { defineOperation, type Operation } from '../socket/operation.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { pageQueryBy, readPage } from '../../../projections/paging.js';
import {
  dismissalRequest,
  orderIdOrNumber,
  reviewCursor,
  toDismissal,
  unmatchedCursor,
} from '../../areas/payments/commands/orders/payment-requests.js';
import { reviewPlace } from '../../../projections/payments/orders/reader.js';
import { unmatchedPlace } from '../../../projections/payments/payment-callbacks/reader.js';
import type { Readers } from '../../../projections/readers.js';

const resolution = z.strictObject({
  id: z.string(),
  action: paymentAction,
  order_id: z.uuid().toLowerCase().nullable(),
  note: z.string(),
});

const period = z.strictObject({
  provider: paymentProvider,
  from: z.iso.datetime(),
  to: z.iso.datetime().nullable(),
  after: z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/)
    .nullable(),
});

/** Makes the operations of payment review (src/areas/payments/README.md#payment-review). */
export function makePaymentOperations(
  {
    commands: { resolvePayment, dismissUnmatched, recordPayment, findPayments, reconcilePayments },
    readers: { paymentCallbacks, orders },
  }: {
    readonly commands: {
      readonly resolvePayment: ResolvePayment;
      readonly dismissUnmatched: DismissUnmatched;
      readonly recordPayment: RecordPayment;
      readonly findPayments: FindPayments;
      readonly reconcilePayments: ReconcilePayments;
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
    defineOperation('payments show', z.strictObject({ id: transactionId }), ({ id }) => show(id)),
    defineOperation('payments order', z.strictObject({ id: orderIdOrNumber }), async ({ id }) => {
      const found = await orders.forOperator(id);
      return found ?? rejectOrder('order_not_found', 'there is no such order');
    }),
    defineOperation('payments dismiss', dismissalRequest, async (request) => ({
      ...(await dismissUnmatched(toDismissal(request), context())),
    })),
    defineOperation('payments record', recordRequest, async (request) => {
      const { in_review, ...record } = await recordPayment(request, context());
      return { ...record, in_review: [...in_review] };
    }),
    defineOperation('payments reconcile', period, async ({ provider, from, to, after }) => ({
      ...(await reconcilePayments(
        { provider, from: new Date(from), to: to === null ? context().time : new Date(to), after },
        context(),
      )),
    })),
    defineOperation('payments resolve', resolution, async ({ order_id: orderId, ...decision }) => {
      const { orderId: settledWith, ...resolved } = await resolvePayment({ ...decision, orderId }, context());
      return { ...resolved, order_id: settledWith };
    }),
  ];

  /** A transaction may have an id of any form, so it is looked for last. */
  async function show(id: string) {
    if (paymentId.safeParse(id).success) {
      const found = await paymentCallbacks.find(id.split('.')[0] ?? '');
      if (found !== null) return found;
    }
    const named = orderIdOrNumber.safeParse(id);
    const order = named.success ? await orders.forOperator(named.data) : null;
    if (order !== null) return order;
    const { items, orders: paid } = await findPayments(id);
    if (items.length === 0 && paid.length === 0) {
      rejectPayment('payment_callback_not_found', 'no payment, order or transaction has this id');
    }
    return { items: [...items], orders: [...paid] };
  }
}
