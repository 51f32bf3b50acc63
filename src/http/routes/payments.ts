import { z } from 'zod';
import { type OrderReader, reviewPlace } from '../../../projections/orders/reader.js';
import type { PaymentCallbackReader } from '../../../projections/payment-callbacks/reader.js';
import type { PaymentResolution, ResolvePayment } from '../../commands/resolve-payment.js';
import { accessMatrix } from '../access-matrix.js';
import { paymentId, paymentResolution, review, unmatched } from '../order-resources.js';
import { pageOf, pageQueryBy, readPage } from '../paging.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

const path = '/api/v1/admin/payments';
/** An order's id and one of what waits there: see `reviewPlace`. */
export const reviewCursor = z.string().regex(/^[0-9a-f-]{36}\/[a-z]{1,16}-[0-9a-f]{64}\.[0-9]{1,2}$/);

const resolutionRequest = z
  .strictObject({
    action: z.enum(['apply', 'dismiss']),
    order_id: z.uuid().toLowerCase().optional().meta({
      description: 'The order that a whole callback is applied to. What is in review is its order’s.',
    }),
    note: z.string().min(1).max(1_000).meta({ description: 'Why. It is kept sealed.' }),
  })
  .meta({ id: 'PaymentResolutionRequest' });

/** What operators see and decide of payments: DESIGN 4.5. */
export function makePaymentRoutes({
  paymentCallbacks,
  orders,
  resolvePayment,
}: {
  readonly paymentCallbacks: Pick<PaymentCallbackReader, 'unmatched'>;
  readonly orders: Pick<OrderReader, 'inReview'>;
  readonly resolvePayment: ResolvePayment;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/unmatched`,
      name: 'listUnmatchedPayments',
      tag: 'Payments',
      summary: 'Callbacks that lead to no order',
      description: 'Each waits for its order, for the payment that it speaks of, or for somebody to read it.',
      access: accessMatrix.listUnmatchedPayments,
      request: { params: noParams, query: pageQueryBy(paymentId), body: noBody },
      replies: { 200: { description: 'A page of callbacks, by id.', schema: pageOf(unmatched) } },
      errors: [],
      handler: async ({ query }) => ({
        status: 200,
        body: await readPage(query, async (page) =>
          (await paymentCallbacks.unmatched(page)).map((item) => ({
            ...item,
            notifications: [...item.notifications],
          })),
        ),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/review`,
      name: 'listPaymentsInReview',
      tag: 'Payments',
      summary: 'What was reported and is not what was ordered',
      access: accessMatrix.listPaymentsInReview,
      request: { params: noParams, query: pageQueryBy(reviewCursor), body: noBody },
      replies: {
        200: { description: 'A page of it, that of the oldest order first.', schema: pageOf(review) },
      },
      errors: [],
      handler: async ({ query }) => ({
        status: 200,
        body: await readPage(query, (page) => orders.inReview(page), reviewPlace),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:paymentId/resolve`,
      name: 'resolvePayment',
      tag: 'Payments',
      summary: 'Decide on a payment that waits',
      description:
        '`apply` takes a callback for an order’s, or a payment in review for the order’s own; `dismiss` lets it change nothing. ' +
        'The same decision again is answered alike; another one after it is a conflict.',
      access: accessMatrix.resolvePayment,
      request: { params: z.object({ paymentId }), query: noQuery, body: resolutionRequest },
      replies: { 200: { description: 'What became of it.', schema: paymentResolution } },
      errors: ['conflict'],
      handler: async ({ params, body, command }) => {
        const { action, order_id: orderId = null, note } = body;
        const resolved = await resolvePayment({ id: params.paymentId, action, orderId, note }, command);
        return { status: 200, body: toBody(resolved) };
      },
    }),
  ];
}

function toBody({ id, action, orderId, disposition }: PaymentResolution): z.output<typeof paymentResolution> {
  return { id, action, order_id: orderId, disposition };
}
