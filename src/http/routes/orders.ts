import { z } from 'zod';
import type { CancelOrder } from '../../commands/cancel-order.js';
import type { PlaceOrder } from '../../commands/place-order.js';
import { currencyCode, paymentProvider } from '../../domain/payment.js';
import type { OrderReader, OrderResource } from '../../../projections/orders/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { HttpError } from '../http-error.js';
import { order, orderWithPayments, plan } from '../order-resources.js';
import { pageOf, pageQuery, readPage } from '../paging.js';
import { noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';
import { projectParams } from './projects.js';

const path = '/api/v1/orders';
const orderParams = z.object({ orderId: z.uuid().toLowerCase() });
const orderRequest = z
  .strictObject({
    plan_id: z
      .string()
      .max(64)
      .meta({ examples: ['capacity-100g'] }),
    provider: paymentProvider,
    currency: currencyCode
      .meta({
        description:
          'When it is left out: CNY for wechatpay, alipay and epay, which pay in no other, else USD.',
      })
      .optional(),
    project_id: z
      .uuid()
      .toLowerCase()
      .meta({
        description: 'For plans that give something to a project; the caller must be its admin or owner.',
      })
      .optional(),
  })
  .meta({ id: 'OrderRequest' });

const noFields = z.strictObject({});

/** Plans and orders: DESIGN 4.5. */
export function makeOrderRoutes({
  plans,
  placeOrder,
  cancelOrder,
  orders,
}: {
  readonly plans: readonly z.output<typeof plan>[];
  readonly placeOrder: PlaceOrder;
  readonly cancelOrder: CancelOrder;
  readonly orders: Pick<OrderReader, 'find' | 'list' | 'listOfProject'>;
}): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plans',
      name: 'listPlans',
      tag: 'Orders',
      summary: 'What can be bought',
      access: accessMatrix.listPlans,
      request: { params: noParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The plans.', schema: z.strictObject({ items: z.array(plan) }) } },
      errors: [],
      handler: (_request) => ({ status: 200, body: { items: [...plans] } }),
    }),
    defineRoute({
      method: 'POST',
      path,
      name: 'placeOrder',
      tag: 'Orders',
      summary: 'Place an order',
      description:
        'It waits a day to be paid. Its `number` is what the payment platform is given. Platforms whose callbacks the service could ' +
        'not verify take no orders: 503 `provider_not_configured`.',
      access: accessMatrix.placeOrder,
      request: { params: noParams, query: noQuery, body: orderRequest },
      replies: { 201: { description: 'The order, `created`.', schema: orderWithPayments } },
      errors: ['conflict', 'not_found', 'insufficient_role', 'provider_not_configured'],
      entityTag: true,
      idempotent: true,
      handler: async ({ body, caller, command }) => {
        const { resource, revision } = await placeOrder(
          {
            buyer: caller,
            planId: body.plan_id,
            provider: body.provider,
            currency: body.currency,
            projectId: body.project_id,
          },
          command,
        );
        return { status: 201, body: toBody(resource), revision, location: `${path}/${resource.id}` };
      },
    }),
    defineRoute({
      method: 'GET',
      path,
      name: 'listOrders',
      tag: 'Orders',
      summary: "The caller's orders, newest first",
      access: accessMatrix.listOrders,
      request: { params: noParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of orders.', schema: pageOf(order) } },
      errors: [],
      handler: async ({ query, caller }) => ({
        status: 200,
        body: await readPage(query, async (page) => (await orders.list(caller.userId, page)).map(listed)),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:orderId`,
      name: 'getOrder',
      tag: 'Orders',
      summary: "One of the caller's orders, with its payments",
      access: accessMatrix.getOrder,
      request: { params: orderParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The order.', schema: orderWithPayments } },
      errors: [],
      entityTag: true,
      handler: async ({ params: { orderId }, caller }) => {
        const found = await orders.find(caller.userId, orderId);
        if (found === null) throw new HttpError('not_found', 'the order does not exist');
        return { status: 200, body: toBody(found.resource), revision: found.revision };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:orderId/cancel`,
      name: 'cancelOrder',
      tag: 'Orders',
      summary: 'Give up an order that is not paid',
      access: accessMatrix.cancelOrder,
      request: { params: orderParams, query: noQuery, body: noFields },
      replies: { 200: { description: 'The order, `canceled`.', schema: orderWithPayments } },
      errors: ['conflict'],
      entityTag: true,
      ifMatch: true,
      handler: async ({ params: { orderId }, caller, command, expectedRevision }) => {
        const input = { userId: caller.userId, orderId, expectedRevision };
        const { resource, revision } = await cancelOrder(input, command);
        return { status: 200, body: toBody(resource), revision };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/projects/:projectId/orders',
      name: 'listProjectOrders',
      tag: 'Orders',
      summary: "A project's orders, newest first",
      access: accessMatrix.listProjectOrders,
      request: { params: projectParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of orders.', schema: pageOf(order) } },
      errors: [],
      handler: async ({ params: { projectId }, query }) => ({
        status: 200,
        body: await readPage(query, async (page) =>
          (await orders.listOfProject(projectId, page)).map(listed),
        ),
      }),
    }),
  ];
}

function toBody(resource: OrderResource): z.output<typeof orderWithPayments> {
  return { ...resource, payments: [...resource.payments] };
}

function listed({ payments: _payments, ...resource }: OrderResource): z.output<typeof order> {
  return resource;
}
