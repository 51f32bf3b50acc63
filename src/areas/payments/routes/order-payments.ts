import { namedObject } from '../../../validation/fields.js';
import { z } from 'zod';
import type { PaymentCommands } from '../commands/index.js';
import { checkText } from '../../../validation/text.js';
import { refundRequest } from '../commands/deciding/requests.js';
import { orderPaymentWay, orderRefund } from '../commands/resources.js';
import { type Route, json, ok, routesOf } from '../../../http/route.js';

const orderParams = z.object({ orderId: z.uuid().toLowerCase() });

const payRequest = namedObject('OrderPaymentRequest', {
  return_url: z
    .string()
    .max(2_048)
    .optional()
    .describe(
      'Where the platform sends the buyer afterwards: a page of this service or of `ALLOWED_ORIGINS`. Only the first call ' +
        'of a payment sets it. It says nothing about the payment.',
    ),
});

/** Makes the routes that ask payment platforms (src/areas/payments/platforms/README.md#paying). */
export function makeOrderPaymentRoutes(deps: PaymentCommands): readonly Route[] {
  const { checkReturnUrl, payOrder, refundOrder } = deps;
  const route = routesOf({ tag: 'Orders', params: orderParams });
  return [
    route('payOrder', 'POST /api/v1/orders/:orderId/pay', {
      summary: 'Make a payment for an order at its platform',
      description:
        'Returns how the buyer pays. While that payment can be paid, each call returns it. A callback of the platform says ' +
        'that the order is paid. 409 `payment_not_offered`: the service has no credentials for this platform, and the order ' +
        'is paid by its number. `payment_pending`: the buyer has paid, and the platform still decides.',
      request: { body: payRequest },
      replies: { 200: json('How the buyer pays.', orderPaymentWay) },
      errors: ['conflict', 'payment_not_offered', 'payment_pending', 'platform_unavailable'],
      check: ({ body }) => checkReturnUrl(body.return_url),
      handler: async ({ params: { orderId }, body, caller, client, userAgent, command }) =>
        ok(
          await payOrder(
            {
              ...{ user_id: caller.userId, order_id: orderId, return_url: body.return_url },
              ...{ client_ip: client, is_mobile: isPhone(userAgent) },
            },
            command,
          ),
        ),
    }),
    route('refundOrder', 'POST /api/v1/orders/:orderId/refund', {
      tag: 'Payments',
      summary: 'Refund an order, or a part of it',
      description:
        'Asks the platform. Its callback confirms the refund and moves the order. After 503, repeat the call with the same ' +
        '`Idempotency-Key`, or with `repeats`: the platform then makes one refund.',
      request: { body: refundRequest },
      replies: { 201: json('The refund, which the platform took on.', orderRefund) },
      errors: ['conflict', 'payment_not_offered', 'platform_unavailable'],
      idempotent: true,
      check: ({ body: { note } }) => checkText(note, 'note', 1_000),
      handler: async ({ params: { orderId }, body, command }) => ({
        status: 201,
        body: { ...(await refundOrder({ order_id: orderId, ...body }, command)) },
      }),
    }),
  ];
}

/** "Browser detection using the user agent" (MDN): browsers of phones name themselves mobile. */
function isPhone(userAgent: string | null): boolean {
  return userAgent !== null && /\bMobi(?:le)?\b/i.test(userAgent);
}
