import type { PaymentDeps } from '../deps.js';
import type { PaymentCommands } from '../commands/index.js';
import { z } from 'zod';
import { reviewPlace } from '../../../../projections/payments/orders/reader.js';
import {
  type UnmatchedResource,
  paymentCallbackResource,
  unmatchedPlace,
  unmatchedResource,
} from '../../../../projections/payments/payment-callbacks/reader.js';
import {
  dismissalRequest,
  orderIdOrNumber,
  reviewCursor,
  unmatchedCursor,
} from '../commands/deciding/requests.js';
import { HttpError } from '../../../http/replies/error-codes.js';
import {
  orderForOperator,
  reviewResource,
  type ReviewResource,
} from '../../../../projections/payments/orders/resource.js';
import { paymentResolution } from './order-resources.js';
import { matchesOf, pageOf, pageQueryBy, readPage } from '../../../../projections/paging.js';
import { paymentAction, paymentId } from '../domain/payment.js';
import { textPattern } from '../../../validation/text.js';
import { noBody, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

const path = '/api/v1/admin/payments';
const { provider, reason: holdReason } = unmatchedResource.shape;
const unmatchedQuery = pageQueryBy(unmatchedCursor).extend({
  provider: provider.optional(),
  reason: holdReason.optional(),
});
const reviewQuery = pageQueryBy(reviewCursor).extend({
  provider: provider.optional(),
  reason: reviewResource.shape.reason.optional(),
  order_id: z.uuid().toLowerCase().optional(),
});
const resolutionRequest = z
  .strictObject({
    action: paymentAction,
    order_id: z.uuid().toLowerCase().optional().meta({
      description: 'The order that a whole callback is applied to. What is in review is its order’s.',
    }),
    note: z.string().min(1).max(1_000).meta({ pattern: textPattern, description: 'Why. It is kept sealed.' }),
  })
  .meta({ id: 'PaymentResolutionRequest' });

/** Makes the routes of payment review (docs/payments/resolving.md#see-and-decide). */
export function makePaymentRoutes({
  paymentCallbacks,
  orders,
  resolvePayment,
  dismissUnmatched,
}: Pick<PaymentCommands, 'resolvePayment' | 'dismissUnmatched'> &
  Pick<PaymentDeps, 'paymentCallbacks' | 'orders'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/unmatched`,
      name: 'listUnmatchedPayments',
      tag: 'Payments',
      summary: 'Callbacks that match no order',
      description: 'Each waits for its order, for its payment, or for an operator to read it.',
      request: { params: noParams, query: unmatchedQuery, body: noBody },
      replies: {
        200: {
          description: 'A page of callbacks, the longest received first.',
          schema: pageOf(unmatchedResource),
        },
      },
      handler: async ({ query: { provider, reason, ...query } }) => ({
        status: 200,
        body: await readPage<UnmatchedResource>(
          query,
          (page) => paymentCallbacks.unmatched(page),
          unmatchedPlace,
          matchesOf({ provider, reason }),
        ),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/review`,
      name: 'listPaymentsInReview',
      tag: 'Payments',
      summary: 'Payments that differ from their order',
      request: { params: noParams, query: reviewQuery, body: noBody },
      replies: {
        200: { description: 'A page of reviews, oldest order first.', schema: pageOf(reviewResource) },
      },
      handler: async ({ query: { provider, reason, order_id, ...query } }) => ({
        status: 200,
        body: await readPage<ReviewResource>(
          query,
          (page) => orders.inReview(page),
          reviewPlace,
          matchesOf({ provider, reason, order_id }),
        ),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/unmatched/dismiss`,
      name: 'dismissUnmatchedPayments',
      tag: 'Payments',
      summary: 'Dismiss callbacks that match no order, a hundred at a time',
      description:
        'For those of other shops that share an account with the platform. Looks at the hundred oldest; ' +
        '`next` says where to go on. What has found its order meanwhile, or was decided on, stays as it is.',
      request: { params: noParams, query: noQuery, body: dismissalRequest },
      replies: {
        200: {
          description: 'How many were dismissed.',
          schema: z.strictObject({
            dismissed: z.int(),
            next: unmatchedCursor.nullable().meta({ examples: [null] }),
          }),
        },
      },
      handler: async ({ body, command }) => ({
        status: 200,
        body: { ...(await dismissUnmatched(body, command)) },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:paymentId`,
      name: 'getPayment',
      tag: 'Payments',
      summary: 'A callback, its outcome, and the decision on it with its reason',
      description: 'By the id of the callback, or of one of its facts.',
      request: { params: z.object({ paymentId }), query: noQuery, body: noBody },
      replies: { 200: { description: 'The callback.', schema: paymentCallbackResource } },
      handler: async ({ params }) => {
        const found = await paymentCallbacks.find(params.paymentId.split('.')[0] ?? '');
        if (found === null) throw new HttpError('not_found', 'there is no such payment');
        return { status: 200, body: found };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/admin/orders/:orderId',
      name: 'getAnyOrder',
      tag: 'Payments',
      summary: 'Any order, with its payments, and the decisions on them with their reasons',
      description: 'By its id, or by its number.',
      request: { params: z.object({ orderId: orderIdOrNumber }), query: noQuery, body: noBody },
      replies: { 200: { description: 'The order.', schema: orderForOperator } },
      handler: async ({ params: { orderId } }) => {
        const found = await orders.forOperator(orderId);
        if (found === null) throw new HttpError('not_found', 'the order does not exist');
        return { status: 200, body: found };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:paymentId/resolve`,
      name: 'resolvePayment',
      tag: 'Payments',
      summary: 'Decide on a waiting payment',
      description:
        '`apply` takes a callback for an order’s, or a payment in review for the order’s own; `dismiss` lets it change nothing. ' +
        'The same decision again is answered alike; another one after it is a conflict.',
      request: { params: z.object({ paymentId }), query: noQuery, body: resolutionRequest },
      replies: { 200: { description: 'What became of it.', schema: paymentResolution } },
      errors: ['conflict'],
      handler: async ({ params: { paymentId: id }, body: { order_id = null, ...decided }, command }) => ({
        status: 200,
        body: { ...(await resolvePayment({ id, order_id, ...decided }, command)) },
      }),
    }),
  ];
}
