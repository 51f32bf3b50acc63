import { namedObject } from '../../../validation/fields.js';
import type { PaymentDeps } from '../deps.js';
import type { PaymentCommands } from '../commands/index.js';
import { z } from 'zod';
import { reviewPosition } from '../../../../projections/payments/orders/reader.js';
import {
  type UnmatchedResource,
  paymentCallbackResource,
  unmatchedPosition,
  unmatchedResource,
} from '../../../../projections/payments/payment-callbacks/reader.js';
import {
  dismissalRequest,
  orderIdOrNumber,
  recordRequest,
  reviewCursor,
  unmatchedCursor,
} from '../commands/deciding/requests.js';
import {
  orderForOperator,
  reviewResource,
  type ReviewResource,
} from '../../../../projections/payments/orders/resource.js';
import { foundPayments, paymentRecord, paymentResolution } from '../commands/resources.js';
import { matchesOf, pageOf, pageQueryBy, readPage } from '../../../../projections/paging.js';
import { transactionId } from '../domain/fact.js';
import { paymentAction, paymentId } from '../domain/payment.js';
import { textPattern } from '../../../validation/text.js';
import { type Route, json, missing, ok, routesOf } from '../../../http/route.js';

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
const resolutionRequest = namedObject('PaymentResolutionRequest', {
  action: paymentAction,
  order_id: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('The order that a whole callback is applied to. What is in review is its order’s.'),
  note: z.string().min(1).max(1_000).meta({ pattern: textPattern, description: 'Why. It is kept sealed.' }),
});

/** Makes the routes by which operators find payments, decide on them and record one by hand (docs/payments/resolving.md#see-and-decide). */
export function makePaymentRoutes(
  deps: PaymentCommands & Pick<PaymentDeps, 'paymentCallbacks' | 'orders'>,
): readonly Route[] {
  const { paymentCallbacks, orders, resolvePayment, dismissUnmatched, findPayments, recordPayment } = deps;
  const route = routesOf({ tag: 'Payments' });
  return [
    route('listUnmatchedPayments', `GET ${path}/unmatched`, {
      summary: 'Callbacks that match no order',
      description: 'Each waits for its order, for its payment, or for an operator to read it.',
      request: { query: unmatchedQuery },
      replies: { 200: json('A page of callbacks, the longest received first.', pageOf(unmatchedResource)) },
      handler: async ({ query: { provider, reason, ...query } }) =>
        ok(
          await readPage<UnmatchedResource>(
            query,
            (page) => paymentCallbacks.unmatched(page),
            unmatchedPosition,
            matchesOf({ provider, reason }),
          ),
        ),
    }),
    route('listPaymentsInReview', `GET ${path}/review`, {
      summary: 'Payments that differ from their order',
      request: { query: reviewQuery },
      replies: { 200: json('A page of reviews, oldest order first.', pageOf(reviewResource)) },
      handler: async ({ query: { provider, reason, order_id, ...query } }) =>
        ok(
          await readPage<ReviewResource>(
            query,
            (page) => orders.inReview(page),
            reviewPosition,
            matchesOf({ provider, reason, order_id }),
          ),
        ),
    }),
    route('dismissUnmatchedPayments', `POST ${path}/unmatched/dismiss`, {
      summary: 'Dismiss callbacks that match no order, a hundred at a time',
      description:
        'For those of other shops that share an account with the platform. Looks at the hundred oldest; ' +
        '`next` says where to go on. What has found its order meanwhile, or was decided on, stays as it is.',
      request: { body: dismissalRequest },
      replies: {
        200: json(
          'How many were dismissed.',
          z.strictObject({ dismissed: z.int(), next: unmatchedCursor.nullable().meta({ examples: [null] }) }),
        ),
      },
      handler: async ({ body, command }) => ok(await dismissUnmatched(body, command)),
    }),
    route('getPayment', `GET ${path}/:paymentId`, {
      summary: 'A callback, its outcome, and the decision on it with its reason',
      description: 'By the id of the callback, or of one of its facts.',
      request: { params: z.object({ paymentId }) },
      replies: { 200: json('The callback.', paymentCallbackResource) },
      handler: async ({ params }) =>
        ok(
          (await paymentCallbacks.find(params.paymentId.split('.')[0] ?? '')) ??
            missing('there is no such payment'),
        ),
    }),
    route('getAnyOrder', 'GET /api/v1/admin/orders/:orderId', {
      summary: 'Any order, with its payments, and the decisions on them with their reasons',
      description: 'By its id, or by its number.',
      request: { params: z.object({ orderId: orderIdOrNumber }) },
      replies: { 200: json('The order.', orderForOperator) },
      handler: async ({ params: { orderId } }) =>
        ok((await orders.forOperator(orderId)) ?? missing('the order does not exist')),
    }),
    route('resolvePayment', `POST ${path}/:paymentId/resolve`, {
      summary: 'Decide on a waiting payment',
      description:
        '`apply` takes a callback for an order’s, or a payment in review for the order’s own; `dismiss` lets it change nothing. ' +
        'The same decision again is answered alike; another one after it is a conflict.',
      request: { params: z.object({ paymentId }), body: resolutionRequest },
      replies: { 200: json('What became of it.', paymentResolution) },
      errors: ['conflict'],
      handler: async ({ params: { paymentId: id }, body: { order_id = null, ...decided }, command }) =>
        ok(await resolvePayment({ id, order_id, ...decided }, command)),
    }),
    route('findPayments', `GET ${path}`, {
      summary: 'Reports of a transaction, and the orders that it pays',
      request: { query: z.object({ transaction_id: transactionId }) },
      replies: { 200: json('At most 100 reports, and their orders.', foundPayments) },
      handler: async ({ query }) => ok(await findPayments(query.transaction_id)),
    }),
    route('recordPayment', `POST ${path}/record`, {
      summary: 'Record a payment that the platform did not report',
      description:
        'It is settled by the rules of a callback. The same record again is answered with `known`. A record that cannot be true ' +
        'beside what the order knows is a conflict.',
      request: { body: recordRequest },
      replies: { 200: json('What became of it.', paymentRecord) },
      errors: ['conflict', 'not_found'],
      handler: async ({ body, command }) => ok(await recordPayment(body, command)),
    }),
  ];
}
