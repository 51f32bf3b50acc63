import { crc32 } from 'node:zlib';
import { decodeBase64, parseTime, readJsonObject } from '../calls/parsing.js';
import type { PaymentCallback, Verification, Verify } from '../payment-provider.js';
import type { PayPalCertificates } from './paypal-certificates.js';
import { readPayPalReport } from './paypal-events.js';
import { firstThat, holdsRsaSha256, refused, updatedBy, verifiedUnreadable } from '../keys/verification.js';

/** Deliveries repeat for three days. PayPal does not document whether a repetition has a new time. */
const ageMaxMs = 4 * 86_400_000;
const aheadMaxMs = 300_000;

/**
 * Verifies callbacks of PayPal, REST webhooks ("Verify the signature yourself"): RSA-SHA256 over
 * `<transmission id>|<time>|<our webhook id>|<CRC-32 of the raw body>`. A person with a delivery's headers can make
 * another body with the same CRC-32. The key of a callback is therefore the signed transmission id, not the event's id:
 * another body under the same key is a conflict. Never log the headers.
 * @param webhookId our own id, never an id from a request
 */
export function verifyPayPal({
  webhookId,
  certificates,
}: {
  readonly webhookId: string;
  readonly certificates: PayPalCertificates;
}): Verify {
  return async ({ headers, body, receivedAt }) => {
    const signed = parseSigned(headers);
    if (signed === null) return refused('malformed');
    const { id, time, sentAt, signature } = signed;
    const found = await certificates(headers['paypal-cert-url'] ?? '', receivedAt);
    if (found.kind === 'unknown') return refused('unknown_key');
    if (found.kind === 'unavailable') return found;
    const { sum } = await updatedBy(makeCrc32(), body);
    const content = Buffer.from(`${id}|${time}|${webhookId}|${sum()}`);
    const genuine = await firstThat(found.keys, (key) => holdsRsaSha256(content, key, signature));
    if (genuine === undefined) return refused('wrong_signature');
    const ageMs = receivedAt.getTime() - sentAt.getTime();
    return ageMs > ageMaxMs || ageMs < -aheadMaxMs ? refused('out_of_time') : read(id, body);
  };
}

function makeCrc32() {
  let value = 0;
  return {
    update: (piece: Buffer) => (value = crc32(piece, value)),
    sum: () => value,
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

async function read(key: string, body: Buffer): Promise<Verification> {
  // With a key from the body, a forged body could choose its key.
  const callback = readPayPalReport(await readJsonObject(body), key);
  return callback === null ? verifiedUnreadable('event_type', body, key) : { kind: 'verified', callback };
}
