import type { ExecutionContext } from 'ava';
import { paymentRequest } from '../../areas/payments/platforms/makers/given-makers.js';
import { givenPlatformServer, type ReceivedRequest } from './platform-server.js';

/** A refund of 19 of 69 yuan. */
export const refundRequest = {
  ...{ orderNumber: paymentRequest.orderNumber, transactionId: '4200000000202601020000000001' },
  ...{ amount: { amount: 1_900, currency: 'CNY' }, paid: paymentRequest.price },
  ...{ callbackUrl: paymentRequest.callbackUrl, idempotencyKey: 'refund-1' },
};

/** Answers every request with an object without a signature. */
export async function givenRecorder(t: ExecutionContext) {
  const methods = ['refund', 'query', 'fastpay_refund_query'];
  const replies = methods.map((method) => [`alipay_trade_${method}_response`, { code: '10000' }]);
  const body = JSON.stringify(Object.fromEntries(replies));
  const reply = { status: 200, headers: { 'content-type': 'application/json' }, body };
  return givenPlatformServer(t, () => reply, { isPlain: true });
}

/** Returns the parts of a request that a platform reads. */
export function partsRead(request: ReceivedRequest | undefined) {
  const { method, path, body, headers } = request ?? { method: '', path: '', body: '', headers: {} };
  const form = 'application/x-www-form-urlencoded';
  const type = headers['content-type'] ?? '';
  return {
    method,
    path,
    body,
    authorization: headers.authorization,
    keys: [
      headers['idempotency-key'],
      headers['stripe-version'],
      headers['paypal-request-id'],
      headers['prefer'],
    ],
    type: type.startsWith(form) ? form : type,
  };
}
