import { z } from 'zod';
import { type OrderReader, reviewPlace } from '../../../projections/orders/reader.js';
import { type PaymentCallbackReader, unmatchedPlace } from '../../../projections/payment-callbacks/reader.js';
import type { DismissUnmatched, DismissUnmatchedInput } from '../../commands/dismiss-unmatched.js';
import { paymentProvider } from '../../domain/payment.js';
import type { PaymentResolution, ResolvePayment } from '../../commands/resolve-payment.js';
import { accessMatrix } from '../access-matrix.js';
import { HttpError } from '../http-error.js';
import {
  orderForOperator,
  paymentCallback,
  paymentId,
  paymentResolution,
  review,
  unmatched,
} from '../order-resources.js';
import { pageOf, pageQueryBy, readPage } from '../paging.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

const path = '/api/v1/admin/payments';
/** A time and a callback's id: see `unmatchedPlace`. */
export const unmatchedCursor = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z\/[a-z]{1,16}-[0-9a-f]{64}$/);
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

export const dismissalRequest = z
  .strictObject({
    reason: unmatched.shape.reason,
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

/** An order by its id, or by the number that the platform was given. */
export const orderIdOrNumber = z.union([z.uuid().toLowerCase(), z.string().regex(/^[0-9A-Za-z]{26}$/)]);

/** What operators see and decide of payments: DESIGN 4.5. */
export function makePaymentRoutes({
  paymentCallbacks,
  orders,
  resolvePayment,
  dismissUnmatched,
}: {
  readonly paymentCallbacks: Pick<PaymentCallbackReader, 'unmatched' | 'find'>;
  readonly orders: Pick<OrderReader, 'inReview' | 'forOperator'>;
  readonly resolvePayment: ResolvePayment;
  readonly dismissUnmatched: DismissUnmatched;
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
      request: { params: noParams, query: pageQueryBy(unmatchedCursor), body: noBody },
      replies: {
        200: { description: 'A page of callbacks, the longest received first.', schema: pageOf(unmatched) },
      },
      errors: [],
      handler: async ({ query }) => ({
        status: 200,
        body: await readPage(
          query,
          async (page) =>
            (await paymentCallbacks.unmatched(page)).map((item) => ({
              ...item,
              notifications: [...item.notifications],
            })),
          unmatchedPlace,
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
      path: `${path}/unmatched/dismiss`,
      name: 'dismissUnmatchedPayments',
      tag: 'Payments',
      summary: 'Dismiss callbacks that lead to no order, a hundred at a time',
      description:
        'For those of other shops that share an account with the platform. Looks at a hundred that wait, the longest received first; ' +
        '`next` says where to go on. What has found its order meanwhile, or was decided on, stays as it is.',
      access: accessMatrix.dismissUnmatchedPayments,
      request: { params: noParams, query: noQuery, body: dismissalRequest },
      replies: {
        200: {
          description: 'How many were dismissed.',
          schema: z.strictObject({ dismissed: z.int(), next: unmatchedCursor.nullable() }),
        },
      },
      errors: [],
      handler: async ({ body, command }) => ({
        status: 200,
        body: { ...(await dismissUnmatched(toDismissal(body), command)) },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:paymentId`,
      name: 'getPayment',
      tag: 'Payments',
      summary: 'A callback, what has become of it, and what was decided on it and why',
      description: 'By its id, or that of one of the things that it tells.',
      access: accessMatrix.getPayment,
      request: { params: z.object({ paymentId }), query: noQuery, body: noBody },
      replies: { 200: { description: 'The callback.', schema: paymentCallback } },
      errors: [],
      handler: async ({ params }) => {
        const found = await paymentCallbacks.find(params.paymentId.split('.')[0] ?? '');
        if (found === null) throw new HttpError('not_found', 'there is no such payment');
        const { notifications, decisions, ...rest } = found;
        return {
          status: 200,
          body: { ...rest, notifications: [...notifications], decisions: [...decisions] },
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/admin/orders/:orderId',
      name: 'getAnyOrder',
      tag: 'Payments',
      summary: 'Anybody’s order, with its payments and what was decided on them and why',
      description: 'By its id, or by its number.',
      access: accessMatrix.getAnyOrder,
      request: { params: z.object({ orderId: orderIdOrNumber }), query: noQuery, body: noBody },
      replies: { 200: { description: 'The order.', schema: orderForOperator } },
      errors: [],
      handler: async ({ params: { orderId } }) => {
        const found = await orders.forOperator(orderId);
        if (found === null) throw new HttpError('not_found', 'the order does not exist');
        return {
          status: 200,
          body: { ...found, payments: [...found.payments], decisions: [...found.decisions] },
        };
      },
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

export function toDismissal({
  provider,
  received_before: receivedBefore,
  ...rest
}: z.output<typeof dismissalRequest>): DismissUnmatchedInput {
  return { ...rest, provider: provider ?? null, receivedBefore: new Date(receivedBefore) };
}

function toBody({ id, action, orderId, disposition }: PaymentResolution): z.output<typeof paymentResolution> {
  return { id, action, order_id: orderId, disposition };
}
