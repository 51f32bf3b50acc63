import { z } from 'zod';
import type { Commands } from '../../commands/index.js';
import { orderPaymentWay } from '../order-resources.js';
import { noQuery } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';

const orderParams = z.object({ orderId: z.uuid().toLowerCase() });

const payRequest = z
  .strictObject({
    return_url: z
      .string()
      .max(2_048)
      .optional()
      .meta({
        description:
          'Where the platform sends the buyer afterwards: a page of this service or of `ALLOWED_ORIGINS`. Only the first call ' +
          'of a payment sets it. It says nothing about the payment.',
      }),
  })
  .meta({ id: 'OrderPaymentRequest' });

/** Makes the routes that ask payment platforms (docs/design.md#paying). */
export function makeOrderPaymentRoutes({
  checkReturnUrl,
  payOrder,
}: Pick<Commands, 'checkReturnUrl' | 'payOrder'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/orders/:orderId/pay',
      name: 'payOrder',
      tag: 'Orders',
      summary: 'Make a payment for an order at its platform',
      description:
        'Returns how the buyer pays. While that payment can be paid, each call returns it. A callback of the platform says ' +
        'that the order is paid. 409 `payment_not_offered`: the service has no credentials for this platform, and the order ' +
        'is paid by its number.',
      request: { params: orderParams, query: noQuery, body: payRequest },
      replies: { 200: { description: 'How the buyer pays.', schema: orderPaymentWay } },
      errors: ['conflict', 'payment_not_offered', 'platform_unavailable'],
      check: ({ body }) => {
        checkReturnUrl(body.return_url);
      },
      handler: async ({ params: { orderId }, body, caller, client, userAgent, command }) => {
        const payment = await payOrder(
          {
            userId: caller.userId,
            orderId,
            returnUrl: body.return_url,
            clientIp: client,
            isMobile: isPhone(userAgent),
          },
          command,
        );
        return { status: 200, body: payment };
      },
    }),
  ];
}

/** "Browser detection using the user agent" (MDN): browsers of phones name themselves mobile. */
function isPhone(userAgent: string | null): boolean {
  return userAgent !== null && /\bMobi(?:le)?\b/i.test(userAgent);
}
