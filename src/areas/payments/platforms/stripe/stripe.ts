import { toStripeAmount } from '../money.js';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { at, readJsonObject } from '../calls/parsing.js';
import { acknowledgedOk, type Refusal, type Verification, type Verify } from '../payment-provider.js';
import { definePlatform } from '../platform.js';
import { matching, type SettingReads } from '../setting-reads.js';
import {
  firstThat,
  isWithinTolerance,
  refused,
  updatedBy,
  verifiedUnreadable,
} from '../keys/verification.js';
import { makeStripeClient, type StripeApi } from './stripe-client.js';
import { readStripeReport } from './stripe-events.js';
import { makeStripeLists } from './stripe-lists.js';
import { makeStripeMaker } from './stripe-maker.js';

const signaturesMax = 16;
/** Stripe charges whole tens of these ("Supported currencies", three-decimal currencies). */
const wholeTens: readonly string[] = ['BHD', 'JOD', 'KWD', 'OMR', 'TND'];

const variables = {
  PAYMENT_STRIPE_WEBHOOK_SECRETS: 'secret',
  PAYMENT_STRIPE_LIVEMODE: 'open',
  PAYMENT_STRIPE_SECRET_KEY: 'secret',
} as const;
type Reads = SettingReads<keyof typeof variables>;

export const stripe = definePlatform({
  name: 'stripe',
  settings: { variables, read: readSettings },
  currencies: {
    default: 'USD',
    whyNot: ({ amount, currency }) => {
      if (toStripeAmount({ amount, currency }) === null)
        return `stripe charges whole ${currency}, and the plan has another price`;
      return wholeTens.includes(currency) && amount % 10 !== 0
        ? `stripe charges ${currency} in tens of its smallest unit, and the plan has another price`
        : null;
    },
  },
  number_fields: ['client_reference_id', 'metadata.order_id'],
  acknowledgement: acknowledgedOk,
  verify: verifyStripe,
  client: ({ api }, surroundings) => (api === null ? null : makeStripeClient(api, surroundings)),
  make: (client, _settings, now) => makeStripeMaker(client, now),
  query: (client, { livemode }, now) => makeStripeLists({ client, livemode, now }),
});

function readSettings(reads: Reads) {
  const isSet = reads.hasAll(['PAYMENT_STRIPE_WEBHOOK_SECRETS']);
  const livemode = reads.truth('PAYMENT_STRIPE_LIVEMODE');
  if (!isSet) return null;
  const shape = matching(/^whsec_[\x21-\x7e]{16,}$/);
  const secrets = reads.list('PAYMENT_STRIPE_WEBHOOK_SECRETS', shape, 'a secret (whsec_…)');
  return secrets === null || livemode === null ? null : { secrets, livemode, api: readApi(reads, livemode) };
}

/** Reads the key of Stripe's API, whose mode must be the one of `PAYMENT_STRIPE_LIVEMODE`. Null: the service makes no payment there. */
function readApi({ read, problem }: Reads, livemode: boolean | undefined): StripeApi | null {
  const secretKey = read('PAYMENT_STRIPE_SECRET_KEY')?.trim();
  if (secretKey === undefined) return null;
  const [, mode] = /^[rs]k_(live|test)_[0-9A-Za-z]{16,250}$/.exec(secretKey) ?? [];
  if (mode === undefined) return problem('PAYMENT_STRIPE_SECRET_KEY', 'must be a secret key (sk_… or rk_…)');
  if (livemode !== undefined && livemode !== (mode === 'live'))
    return problem('PAYMENT_STRIPE_SECRET_KEY', 'is of the other mode than PAYMENT_STRIPE_LIVEMODE');
  return { secretKey };
}

/**
 * Verifies callbacks of Stripe ("Verify webhook signatures manually"): HMAC-SHA256 over `<t>.<raw body>` under the whole
 * secret with its prefix. It tries every `v1` with every secret and ignores other schemes. The key of a callback is the
 * event's id.
 * @param livemode undefined accepts both modes
 */
export function verifyStripe(settings: {
  readonly secrets: readonly string[];
  readonly livemode: boolean | undefined;
}): Verify {
  const { secrets, livemode } = settings;
  return async ({ headers, body, receivedAt }) => {
    const refusal = await judge(headers['stripe-signature'] ?? '', body, receivedAt);
    return refusal === null ? read(body) : refused(refusal);
  };

  async function judge(header: string, body: Buffer, receivedAt: Date): Promise<Refusal | null> {
    const parts = header.split(',', 2 * signaturesMax);
    const times = parts.filter((part) => part.startsWith('t='));
    const candidates = parts
      .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
      .slice(0, signaturesMax)
      .map((part) => Buffer.from(part.slice(3), 'hex'));
    const time = times[0]?.slice(2) ?? '';
    if (times.length !== 1 || !/^\d{1,12}$/.test(time) || candidates.length === 0) return 'malformed';
    const genuine = await firstThat(secrets, async (secret) => {
      const sum = await updatedBy(createHmac('sha256', secret).update(`${time}.`), body);
      const expected = sum.digest();
      return candidates.some((candidate) => timingSafeEqual(candidate, expected));
    });
    if (genuine === undefined) return 'wrong_signature';
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
