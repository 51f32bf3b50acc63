import { createHash, createHmac } from 'node:crypto';
import type { OutgoingRequest } from '../outgoing/outgoing-http.js';
import type { WebhookEndpoint } from './endpoint.js';
import type { WebhookMessage } from './messages/make-message.js';

/**
 * Returns the id of a message, the same at each attempt and in each process: a digest of endpoint and event. Receivers
 * drop a message whose id they have processed.
 */
export function webhookId(endpointId: string, eventId: string): string {
  const digest = createHash('sha256').update(`${endpointId}/${eventId}`).digest('hex');
  return `msg_${digest.slice(0, 32)}`;
}

/**
 * Signs a message as Standard Webhooks 1.0, `v1`: HMAC-SHA256 over `<id>.<timestamp>.<body>`, one signature for each key.
 * @param at the time of the attempt, which the receiver compares with its clock
 */
export function signedRequest(
  { url, keys }: Pick<WebhookEndpoint, 'url' | 'keys'>,
  message: WebhookMessage,
  { id, at }: { readonly id: string; readonly at: Date },
): OutgoingRequest {
  const body = Buffer.from(JSON.stringify(message));
  const time = String(Math.floor(at.getTime() / 1_000));
  const content = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Stowage-Webhooks',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': signatures.join(' '),
    },
    body,
  };
}
