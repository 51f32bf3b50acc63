import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { type HeaderFields, type ServiceClient, type ServiceReply, textOf } from './service-client.js';
import { signStandard } from './sign-callbacks.js';

const standardSecret = `whsec_${Buffer.from('test only, the secret of the platform').toString('base64')}`;

/** The settings of a service that verifies the messages of this platform. */
export const standardEnvironment = { PAYMENT_STANDARD_WEBHOOK_SECRETS: standardSecret };

/** Places an order at the platform `standard`, for capacity by default. */
export async function placeOrder(
  client: Pick<ServiceClient, 'post'>,
  headers: HeaderFields,
  request: JsonObject = {},
): Promise<JsonObject> {
  const order = { plan_id: 'capacity-100g', provider: 'standard', ...request };
  const reply = await client.post('/api/v1/orders', order, headers);
  if (reply.status !== 201) throw new Error(`placing an order was answered ${reply.status}: ${reply.text}`);
  return reply.json();
}

/** Sends what the platform reports of a payment, by default that 999 minor units of USD are paid. */
export function reportPayment(
  client: Pick<ServiceClient, 'send'>,
  data: JsonObject,
  { id = 'msg-1', type = 'payment.paid', secret = standardSecret } = {},
): Promise<ServiceReply> {
  const payment = { transaction_id: 'tx-1', amount: 999, currency: 'USD', ...data };
  const event = { type, timestamp: '2026-01-02T03:04:05.000Z', data: payment };
  const { headers, body } = signStandard(event, { id, secret, at: new Date() });
  const init = { method: 'POST', headers: { ...headers }, body };
  return client.send('/api/v1/payment/webhooks/standard', init);
}

/** Sends the report that a placed order is paid. */
export function payOrder(client: Pick<ServiceClient, 'send'>, order: JsonObject): Promise<ServiceReply> {
  const [id, currency] = [textOf(order, 'id'), textOf(order, 'currency')];
  const money = { amount: Number(order['amount']), currency };
  const data = { order_number: textOf(order, 'number'), transaction_id: `tx-${id}`, ...money };
  return reportPayment(client, data, { id: `msg-${id}` });
}
