import { createHmac, timingSafeEqual } from 'node:crypto';
import { at, readJsonObject } from '../parsing.js';
import {
  acknowledgedOk,
  type PaymentProvider,
  type Refusal,
  type Verification,
} from '../payment-provider.js';
import { readStripeReport } from './stripe-events.js';
import { isWithinTolerance, refused, verifiedUnreadable } from '../verification.js';

const signaturesMax = 16;

/**
 * Makes the platform Stripe ("Verify webhook signatures manually"): HMAC-SHA256 over `<t>.<raw body>` under the whole
 * secret with its prefix. It tries every `v1` with every secret and ignores other schemes. The key of a callback is the
 * event's id.
 * @param livemode undefined accepts both modes
 */
export function makeStripe({
  secrets,
  livemode,
}: {
  readonly secrets: readonly string[];
  readonly livemode: boolean | undefined;
}): PaymentProvider {
  return {
    acknowledgement: acknowledgedOk,
    verify: async ({ headers, body, receivedAt }) => {
      const refusal = judge(headers['stripe-signature'] ?? '', body, receivedAt);
      return refusal === null ? read(body) : refused(refusal);
    },
  };

  function judge(header: string, body: Buffer, receivedAt: Date): Refusal | null {
    const parts = header.split(',', 2 * signaturesMax);
    const times = parts.filter((part) => part.startsWith('t='));
    const candidates = parts
      .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
      .slice(0, signaturesMax)
      .map((part) => Buffer.from(part.slice(3), 'hex'));
    const time = times[0]?.slice(2) ?? '';
    if (times.length !== 1 || !/^\d{1,12}$/.test(time) || candidates.length === 0) return 'malformed';
    const isGenuine = secrets.some((secret) => {
      const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
      return candidates.some((candidate) => timingSafeEqual(candidate, expected));
    });
    if (!isGenuine) return 'wrong_signature';
    return isWithinTolerance(time, receivedAt) ? null : 'out_of_time';
  }

  async function read(body: Buffer): Promise<Verification> {
    const event = await readJsonObject(body);
    const callback = readStripeReport(event, livemode);
    if (callback === null) return verifiedUnreadable('id and type', body);
    // Thin events (v2.core.event) carry no data: the endpoint is configured for the wrong kind.
    if (at(event, 'object') !== 'event') return verifiedUnreadable('object', body);
    return { kind: 'verified', callback };
  }
}
