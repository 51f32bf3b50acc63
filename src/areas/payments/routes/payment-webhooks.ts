import type { PaymentCommands } from '../commands/index.js';
import { z } from 'zod';
import type { CallbackOutcome } from '../commands/callbacks/callbacks.js';
import { paymentProvider, platformTerms } from '../domain/payment.js';
import { type ErrorCode, HttpError } from '../../../http/replies/error-codes.js';
import { defineRawRoute, type RawReply, type RawRequest } from '../../../http/server/raw-route.js';
import type { Route } from '../../../http/route.js';

const params = z.object({ provider: paymentProvider });
type Params = z.output<typeof params>;

const received: RawReply = {
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: '{"code":"ok","message":"ok"}',
};

const common = {
  path: '/api/v1/payment/webhooks/:provider',
  tag: 'Payments',
  params,
  errorCodes: ['FAIL'],
  errorCode: ({ provider }: Params) => platformTerms(provider).error_code,
  reply: 'Received, in the words that the platform expects.',
} as const;
const errors: readonly ErrorCode[] = [
  'invalid_signature',
  'provider_not_configured',
  'store_unavailable',
  'outcome_unknown',
  'overloaded',
];

/**
 * Makes the routes for callbacks of payment platforms (src/areas/payments/README.md#payment-callbacks,
 * docs/api.md#47-post-apiv1paymentwebhooksprovider, docs/api.md#48-get-apiv1paymentwebhooksprovider).
 */
export function makePaymentWebhookRoutes({ receivePaymentCallback }: PaymentCommands): readonly Route[] {
  const receive = async (request: RawRequest<Params>, method: 'GET' | 'POST'): Promise<RawReply> => {
    const { headers, body, query, command, client } = request;
    const callback = { method, headers, body, query, receivedAt: command.time };
    return replyTo(
      await receivePaymentCallback({ name: request.params.provider, callback, client }, command),
    );
  };
  return [
    defineRawRoute({
      ...common,
      method: 'POST',
      name: 'receivePaymentCallback',
      summary: 'Receive a callback of a payment platform',
      description:
        'Its signature is checked over the bytes as they were sent. A repetition is acknowledged alike.',
      errors,
      handler: (request) => receive(request, 'POST'),
    }),
    defineRawRoute({
      ...common,
      method: 'GET',
      name: 'confirmPaymentCallback',
      summary: 'Receive the callback of a platform that calls by GET',
      description: 'Without a query, and for platforms that do not, nothing changes.',
      errors,
      handler: (request) => (request.method === 'HEAD' ? Promise.resolve(received) : receive(request, 'GET')),
    }),
  ];
}

function replyTo(outcome: CallbackOutcome): RawReply {
  switch (outcome.kind) {
    case 'acknowledged':
      return { status: 200, ...outcome.acknowledgement };
    case 'shown':
      return received;
    case 'not_configured':
      throw new HttpError('provider_not_configured', 'the payment platform is not configured');
    case 'refused':
      throw new HttpError('invalid_signature', 'the signature does not hold');
    case 'unavailable':
      throw new HttpError('store_unavailable', 'the callback cannot be judged now; send it again');
  }
}
