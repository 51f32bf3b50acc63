import { crc32 } from 'node:zlib';
import { decodeBase64, parseJsonObject, parseTime, textAt, timeAt } from './parsing.js';
import {
  acknowledgedOk,
  type PaymentCallback,
  type PaymentProvider,
  type Verification,
} from './payment-provider.js';
import type { PayPalCertificates } from './paypal-certificates.js';
import { paypalFields, readPayPalEvent } from './paypal-events.js';
import { fieldsAt, holdsRsaSha256, refused, verified, verifiedUnreadable } from './verification.js';

/** Deliveries are repeated for three days, and it is not documented whether the time is renewed. */
const ageMaxMs = 4 * 86_400_000;
const aheadMaxMs = 300_000;

/** What the simulator signs with, for everybody. */
export const simulatorWebhookId = 'WEBHOOK_ID';

/**
 * PayPal REST webhooks ("Verify the signature yourself"): RSA-SHA256 over `<transmission id>|<time>|<our webhook id>|<CRC-32 of the raw
 * body>`. A CRC-32 can be matched with another body by whoever has a genuine delivery's headers. So the key is the transmission's
 * id, which is signed, and not the event's, which is not: another body under it is a conflict. The headers must not be logged.
 * @param webhookId ours, never the one of a request
 */
export function makePayPal({
  webhookId,
  certificates,
}: {
  readonly webhookId: string;
  readonly certificates: PayPalCertificates;
}): PaymentProvider {
  return {
    acknowledgement: acknowledgedOk,
    verify: async ({ headers, body, receivedAt }) => {
      const signed = parseSigned(headers);
      if (signed === null) return refused('malformed');
      const { id, time, sentAt, signature } = signed;
      const found = await certificates(headers['paypal-cert-url'] ?? '', receivedAt);
      if (found.kind === 'unknown') return refused('unknown_key');
      if (found.kind === 'unavailable') return found;
      const content = Buffer.from(`${id}|${time}|${webhookId}|${crc32(body)}`);
      if (!found.keys.some((key) => holdsRsaSha256(content, key, signature)))
        return refused('wrong_signature');
      const ageMs = receivedAt.getTime() - sentAt.getTime();
      return ageMs > ageMaxMs || ageMs < -aheadMaxMs ? refused('out_of_time') : read(id, body);
    },
  };
}

function parseSigned(headers: PaymentCallback['headers']) {
  const id = headers['paypal-transmission-id'] ?? '';
  const time = headers['paypal-transmission-time'] ?? '';
  const sentAt = parseTime(time);
  const signature = decodeBase64(headers['paypal-transmission-sig'] ?? '');
  if (!/^[A-Za-z0-9-]{8,64}$/.test(id) || sentAt === null || signature === null) return null;
  return headers['paypal-auth-algo'] === 'SHA256withRSA' ? { id, time, sentAt, signature } : null;
}

function read(key: string, body: Buffer): Verification {
  const event = parseJsonObject(body);
  const type = textAt(event, 'event_type');
  const occurredAt = timeAt(event, 'create_time');
  // Its key stays the transmission's: a body of its own making would be a key of its own making.
  const notifications = event === null || type === null ? null : readPayPalEvent(type, event, occurredAt);
  if (notifications === null) return verifiedUnreadable('event_type', body, key);
  return verified({ key, isOurs: true, notifications, fields: fieldsAt(event, paypalFields) });
}
