import { acknowledgedOk } from '../payment-provider.js';
import { definePlatform } from '../platform.js';
import type { SettingReads } from '../setting-reads.js';
import { verifyPayPal } from './paypal-callbacks.js';
import {
  makeFetchedCertificates,
  makePinnedCertificates,
  type PayPalEnvironment,
} from './paypal-certificates.js';
import { makePayPalClient, type PayPalApi, paypalUrlOf } from './paypal-client.js';
import { makePayPalList } from './paypal-list.js';
import { makePayPalMaker } from './paypal-maker.js';

/** The webhook id of the simulator, which signs for every user. */
const simulatorWebhookId = 'WEBHOOK_ID';
/** The currencies of PayPal's REST APIs ("Currency codes"). It charges no decimals of the second list. */
const currencies: readonly string[] = [
  ...['AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS', 'JPY', 'MXN'],
  ...['MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'SEK', 'SGD', 'THB', 'TWD', 'USD'],
];
const wholeUnits: readonly string[] = ['HUF', 'TWD'];

interface PayPalSettings {
  readonly webhookId: string;
  readonly environment: PayPalEnvironment;
  readonly certificatesDirectory: string | undefined;
  /** Null: the service makes no payment there. */
  readonly api: PayPalApi | null;
}

const variables = {
  PAYMENT_PAYPAL_WEBHOOK_ID: { meaning: 'the id of the webhook' },
  PAYMENT_PAYPAL_ENVIRONMENT: { default: '`live`', meaning: 'optional, `live` or `sandbox`' },
  PAYMENT_PAYPAL_CERTIFICATES_DIR: {
    meaning:
      'optional: a directory of PayPal’s signing certificates (`.pem`), for networks without access to PayPal',
  },
  PAYMENT_PAYPAL_CLIENT_ID: {
    meaning: 'optional: the client id of the app, with which the service makes payments',
  },
  PAYMENT_PAYPAL_CLIENT_SECRET: { meaning: 'the secret of that app', is_secret: true },
} as const;
type Reads = SettingReads<keyof typeof variables>;

export const paypal = definePlatform({
  name: 'paypal',
  summary: {
    title: 'PayPal REST',
    signs_with: 'RSA-SHA256 over a CRC-32',
    reports: 'payments, ends, refunds, disputes',
  },
  settings: { variables, keys_directory: 'PAYMENT_PAYPAL_CERTIFICATES_DIR', read: readSettings },
  currencies: {
    default: 'USD',
    whyNot: ({ amount, currency }) => {
      if (!currencies.includes(currency)) return `paypal does not charge ${currency}`;
      return wholeUnits.includes(currency) && amount % 100 !== 0
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
  client: ({ api, environment }, { call, now, baseUrl = paypalUrlOf(environment) }) =>
    api === null ? null : makePayPalClient({ baseUrl, api, call, now }),
  make: (client, _settings, now) => makePayPalMaker({ client, now }),
  query: (client) => makePayPalList(client),
});

function readSettings(reads: Reads): PayPalSettings | null {
  const { read, problem } = reads;
  const isSet = reads.hasAll(
    ['PAYMENT_PAYPAL_WEBHOOK_ID'],
    [
      'PAYMENT_PAYPAL_ENVIRONMENT',
      'PAYMENT_PAYPAL_CERTIFICATES_DIR',
      'PAYMENT_PAYPAL_CLIENT_ID',
      'PAYMENT_PAYPAL_CLIENT_SECRET',
    ],
  );
  const environment = read('PAYMENT_PAYPAL_ENVIRONMENT') ?? 'live';
  if (environment !== 'live' && environment !== 'sandbox') {
    return problem('PAYMENT_PAYPAL_ENVIRONMENT', 'must be live or sandbox');
  }
  if (!isSet) return null;
  const webhookId = reads.one('PAYMENT_PAYPAL_WEBHOOK_ID', /^[0-9A-Za-z_-]{1,64}$/, 'the id of the webhook');
  if (webhookId === simulatorWebhookId) {
    return problem('PAYMENT_PAYPAL_WEBHOOK_ID', 'is the simulator’s, which signs for everybody');
  }
  const certificatesDirectory = read('PAYMENT_PAYPAL_CERTIFICATES_DIR');
  return webhookId === null ? null : { webhookId, environment, certificatesDirectory, api: readApi(reads) };
}

/** Reads the credentials of the app, of which PayPal's webhook is one. */
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
