import { parsePrivateKey } from '../keys/certificates.js';
import { acknowledgedSuccess } from '../payment-provider.js';
import { definePlatform } from '../platform.js';
import { expectedPrivateKey, type SettingReads } from '../setting-reads.js';
import { parseAlipayKey, verifyAlipay } from './alipay-callbacks.js';
import { makeAlipayClient } from './alipay-client.js';
import { makeAlipayMaker, makeAlipayQueries } from './alipay-maker.js';

const variables = {
  PAYMENT_ALIPAY_APP_ID: 'open',
  PAYMENT_ALIPAY_SELLER_ID: 'open',
  PAYMENT_ALIPAY_PUBLIC_KEYS: 'secret',
  PAYMENT_ALIPAY_PRIVATE_KEY: 'secret',
} as const;
type Reads = SettingReads<keyof typeof variables>;

export const alipay = definePlatform({
  name: 'alipay',
  settings: { variables, read: readSettings },
  currencies: { default: 'CNY', is_only: true },
  number_fields: ['out_trade_no'],
  acknowledgement: acknowledgedSuccess,
  get: 'shows',
  verify: verifyAlipay,
  client: ({ api, appId, publicKeys }, { call, now, baseUrl = 'https://openapi.alipay.com' }) => {
    if (api === null) return null;
    const signer = { ...api, appId, gateway: `${baseUrl}/gateway.do` };
    return { signer, client: makeAlipayClient({ signer, publicKeys, call, now }) };
  },
  make: (client, _settings, now) => makeAlipayMaker({ ...client, now }),
  query: ({ client }, { sellerId }) => makeAlipayQueries({ client, sellerId }),
});

function readSettings(reads: Reads) {
  const isSet = reads.hasAll([
    'PAYMENT_ALIPAY_APP_ID',
    'PAYMENT_ALIPAY_SELLER_ID',
    'PAYMENT_ALIPAY_PUBLIC_KEYS',
  ]);
  if (!isSet) return null;
  const publicKeys = reads.list(
    'PAYMENT_ALIPAY_PUBLIC_KEYS',
    parseAlipayKey,
    'the public key of Alipay (base64, or PEM, RSA, 2048 bits or more)',
  );
  const appId = reads.one('PAYMENT_ALIPAY_APP_ID', /^\d{1,32}$/, 'the id of the app (digits)');
  const sellerId = reads.one('PAYMENT_ALIPAY_SELLER_ID', /^\d{1,32}$/, 'the number of the seller (2088…)');
  return publicKeys === null || appId === null || sellerId === null
    ? null
    : { appId, sellerId, publicKeys, api: readApi(reads) };
}

/** Reads the key of the app, whose public key Alipay's console has. Null: the service makes no payment there. */
function readApi({ read, problem }: Reads) {
  const text = read('PAYMENT_ALIPAY_PRIVATE_KEY');
  if (text === undefined) return null;
  const privateKey = parsePrivateKey(text);
  return privateKey === null ? problem('PAYMENT_ALIPAY_PRIVATE_KEY', expectedPrivateKey) : { privateKey };
}
