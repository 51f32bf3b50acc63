import { type PaymentCallback, type Verification, type Verify, acknowledgedOk } from '../payment-provider.js';
import { toPayPalValue } from '../money.js';
import { definePlatform } from '../platform.js';
import type { SettingReads } from '../setting-reads.js';
import {
  type PayPalCertificates,
  type PayPalEnvironment,
  makeFetchedCertificates,
  makePinnedCertificates,
} from './paypal-certificates.js';
import { type PayPalApi, makePayPalClient, makePayPalList, paypalUrls } from './paypal-client.js';
import { makePayPalMaker } from './paypal-maker.js';
import { crc32 } from 'node:zlib';
import { decodeBase64, parseTime, readJsonObject } from '../calls/parsing.js';
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
export function verifyPayPal(input: {
  readonly webhookId: string;
  readonly certificates: PayPalCertificates;
}): Verify {
  const { webhookId, certificates } = input;
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
  return { update: (piece: Buffer) => (value = crc32(piece, value)), sum: () => value };
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

/** The webhook id of the simulator, which signs for every user. */
const simulatorWebhookId = 'WEBHOOK_ID';
/** The currencies of PayPal's REST APIs ("Currency codes"). */
const currencies: readonly string[] = [
  ...['AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS', 'JPY', 'MXN'],
  ...['MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'SEK', 'SGD', 'THB', 'TWD', 'USD'],
];

const variables = {
  PAYMENT_PAYPAL_WEBHOOK_ID: 'open',
  PAYMENT_PAYPAL_ENVIRONMENT: 'open',
  PAYMENT_PAYPAL_CERTIFICATES_DIR: 'open',
  PAYMENT_PAYPAL_CLIENT_ID: 'open',
  PAYMENT_PAYPAL_CLIENT_SECRET: 'secret',
} as const;
type Reads = SettingReads<keyof typeof variables>;

export const paypal = definePlatform({
  name: 'paypal',
  settings: { variables, keys_directory: 'PAYMENT_PAYPAL_CERTIFICATES_DIR', read: readSettings },
  currencies: {
    default: 'USD',
    whyNot: (price) => {
      const { currency } = price;
      if (!currencies.includes(currency)) return `paypal does not charge ${currency}`;
      return toPayPalValue(price) === null
        ? `paypal charges ${currency} without decimals, and the plan has another price`
        : null;
    },
  },
  number_fields: ['custom_id', 'invoice_id'],
  acknowledgement: acknowledgedOk,
  binds_key: false,
  verify: ({ webhookId, environment, certificatesDirectory: path }, { http, report }) =>
    verifyPayPal({
      webhookId,
      certificates:
        path === undefined
          ? makeFetchedCertificates({ environment, http })
          : makePinnedCertificates({ path, environment, report }),
    }),
  client: ({ api, environment }, { call, now, baseUrl = paypalUrls[environment] }) =>
    api === null ? null : makePayPalClient({ baseUrl, api, call, now }),
  make: (client, _settings, now) => makePayPalMaker({ client, now }),
  query: (client) => makePayPalList(client),
});

function readSettings(reads: Reads) {
  const { read, problem } = reads;
  const isSet = reads.hasAll(['PAYMENT_PAYPAL_WEBHOOK_ID']);
  const named = read('PAYMENT_PAYPAL_ENVIRONMENT') ?? 'live';
  if (named !== 'live' && named !== 'sandbox')
    return problem('PAYMENT_PAYPAL_ENVIRONMENT', 'must be live or sandbox');
  const environment: PayPalEnvironment = named;
  if (!isSet) return null;
  const webhookId = reads.one('PAYMENT_PAYPAL_WEBHOOK_ID', /^[0-9A-Za-z_-]{1,64}$/, 'the id of the webhook');
  if (webhookId === simulatorWebhookId)
    return problem('PAYMENT_PAYPAL_WEBHOOK_ID', 'is the simulator’s, which signs for everybody');
  const certificatesDirectory = read('PAYMENT_PAYPAL_CERTIFICATES_DIR');
  return webhookId === null ? null : { webhookId, environment, certificatesDirectory, api: readApi(reads) };
}

/** Reads the credentials of the app, of which PayPal's webhook is one. Null: the service makes no payment there. */
function readApi({ read, problem }: Reads): PayPalApi | null {
  const clientId = read('PAYMENT_PAYPAL_CLIENT_ID')?.trim();
  const clientSecret = read('PAYMENT_PAYPAL_CLIENT_SECRET')?.trim();
  if (clientId === undefined && clientSecret === undefined) return null;
  // A colon would end the id in the header of the request for a token.
  const shape = /^[0-9A-Za-z_-]{16,128}$/;
  if (!shape.test(clientId ?? ''))
    return problem('PAYMENT_PAYPAL_CLIENT_ID', 'must be the client id of the app');
  if (!shape.test(clientSecret ?? ''))
    return problem('PAYMENT_PAYPAL_CLIENT_SECRET', 'must be the secret of the app');
  return { clientId: clientId ?? '', clientSecret: clientSecret ?? '' };
}
