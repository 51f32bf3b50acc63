import { namedObject } from '../../../validation/fields.js';
import type { PaymentDeps } from '../deps.js';
import type { PaymentCommands } from '../commands/index.js';
import { z } from 'zod';
import { currencyCode } from '../domain/fact.js';
import { paymentProvider, type PaymentProviderName, platformTerms } from '../domain/payment.js';
import {
  listedOrder,
  type OrderResource,
  orderResource,
} from '../../../../projections/payments/orders/resource.js';
import { paymentPlatform, plan } from '../commands/resources.js';
import { creationQuery, pageOf, readCreationPage } from '../../../../projections/paging.js';
import { noFields } from '../../../http/route-spec.js';
import { type Route, created, current, json, missing, ok, routesOf } from '../../../http/route.js';
import { projectParams } from '../../projects/routes/projects.js';
import { guard } from '../../accounts/domain/guard.js';

const path = '/api/v1/orders';
const orderParams = z.object({ orderId: z.uuid().toLowerCase() });
const orderRequest = namedObject('OrderRequest', {
  plan_id: z
    .string()
    .max(64)
    .meta({ examples: ['capacity-100g'] }),
  provider: paymentProvider,
  currency: currencyCode.describe(`When it is left out: ${soleCurrencies()}, else USD.`).optional(),
  project_id: z
    .uuid()
    .toLowerCase()
    .describe('For plans that give something to a project; the caller must be its admin or owner.')
    .optional(),
});

const orderQuery = creationQuery.extend({
  status: orderResource.shape.status.optional().describe('Only orders with this status.'),
});

const planList = z.strictObject({ items: z.array(plan), platforms: z.array(paymentPlatform) });

/** Makes the routes of plans and orders (src/areas/payments/README.md#plans-and-orders). */
export function makeOrderRoutes(
  deps: PaymentCommands & Pick<PaymentDeps, 'orders'> & { readonly plans: readonly z.output<typeof plan>[] },
): readonly Route[] {
  const { plans, checkOrder, placeOrder, cancelOrder, orders, paymentPlatforms } = deps;
  const listOf = async (
    of: Parameters<typeof orders.page>[0],
    { status, ...query }: z.output<typeof orderQuery>,
  ) => {
    const { items, next_cursor } = await readCreationPage(query, (page) => orders.page(of, page, { status }));
    return { items: items.map(listed), next_cursor };
  };
  const route = routesOf({ tag: 'Orders' });
  return [
    route('listPlans', 'GET /api/v1/plans', {
      summary: 'Plans, and how to pay for them',
      description: 'Orders are taken for the listed platforms alone.',
      replies: { 200: json('The plans, and the platforms that are set up.', planList) },
      handler: (_request) => ok({ items: [...plans], platforms: paymentPlatforms() }),
    }),
    route('placeOrder', `POST ${path}`, {
      summary: 'Place an order',
      description:
        'It waits a day to be paid. Its `number` is what the payment platform is given. Platforms whose callbacks the service could ' +
        'not verify take no orders: 503 `provider_not_configured`.',
      request: { body: orderRequest },
      replies: { 201: json('The order, `created`.', orderResource) },
      errors: ['conflict', 'not_found', 'insufficient_role', 'provider_not_configured'],
      entityTag: true,
      idempotent: true,
      isGone: async ({ id }, { caller }) => {
        const found = await orders.find(caller, id);
        // The view may not have a new order yet, and no order is removed.
        return found !== null && ['canceled', 'expired'].includes(found.resource.status);
      },
      check: ({ body }) => checkOrder(body),
      handler: async ({ body, caller, command }) => {
        const { userId: user_id, factors, proofs } = caller;
        const guarded = guard('enter_guarded_project', factors, proofs, command.time);
        return created(await placeOrder({ buyer: { user_id, guarded }, ...body }, command), path);
      },
    }),
    route('listOrders', `GET ${path}`, {
      summary: "The caller's orders, newest first",
      request: { query: orderQuery },
      replies: { 200: json('A page of orders.', pageOf(listedOrder)) },
      handler: async ({ query, caller }) => ok(await listOf(caller, query)),
    }),
    route('getOrder', `GET ${path}/:orderId`, {
      summary: "One of the caller's orders, with its payments",
      request: { params: orderParams },
      replies: { 200: json('The order.', orderResource) },
      entityTag: true,
      handler: async ({ params: { orderId }, caller }) =>
        current((await orders.find(caller, orderId)) ?? missing('the order does not exist')),
    }),
    route('cancelOrder', `POST ${path}/:orderId/cancel`, {
      summary: 'Cancel an unpaid order',
      request: { params: orderParams, body: noFields },
      replies: { 200: json('The order, `canceled`.', orderResource) },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params: { orderId }, caller, command, expectedRevision }) =>
        current(await cancelOrder({ user_id: caller.userId, order_id: orderId, expectedRevision }, command)),
    }),
    route('listProjectOrders', 'GET /api/v1/projects/:projectId/orders', {
      summary: "A project's orders, newest first",
      request: { params: projectParams, query: orderQuery },
      replies: { 200: json('A page of orders.', pageOf(listedOrder)) },
      handler: async ({ params: { projectId }, query }) => ok(await listOf({ projectId }, query)),
    }),
    route('getProjectOrder', 'GET /api/v1/projects/:projectId/orders/:orderId', {
      summary: "One of a project's orders, with its payments",
      request: { params: projectParams.extend(orderParams.shape) },
      replies: { 200: json('The order.', orderResource) },
      entityTag: true,
      handler: async ({ params: { projectId, orderId } }) =>
        current((await orders.find({ projectId }, orderId)) ?? missing('the order does not exist')),
    }),
  ];
}

/** Returns the currency of each platform that takes one alone. */
function soleCurrencies(): string {
  const sole = paymentProvider.options.filter((name) => platformTerms(name).currencies.is_only);
  const currencyOf = (name: PaymentProviderName): string => platformTerms(name).currencies.default;
  const texts = [...new Set(sole.map(currencyOf))].map((currency) => {
    const names = sole.filter((name) => currencyOf(name) === currency);
    // `Intl.ListFormat` would load a table of languages at each start.
    const list = names.join(', ').replace(/, ([^,]*)$/, ' and $1');
    return `${currency} for ${list}, which pay${names.length === 1 ? 's' : ''} in no other`;
  });
  return texts.join('; ');
}

function listed({ payments: _payments, ...resource }: OrderResource): z.output<typeof listedOrder> {
  return resource;
}
