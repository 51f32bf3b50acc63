import { type KeyObject, randomBytes } from 'node:crypto';
import { parsePrivateKey } from '../keys/certificates.js';
import { definePlatform } from '../platform.js';
import { expectedPrivateKey, matching, type SettingReads } from '../setting-reads.js';
import { verifyWechatPay } from './wechatpay-callbacks.js';
import { makeWechatPayClient, makeWechatPayKeys } from './wechatpay-client.js';
import { makeWechatPayMaker } from './wechatpay-maker.js';
import { makeWechatPayQueries } from './wechatpay-query.js';

/** What signs requests to WeChat Pay. */
interface WechatPayApi {
  readonly privateKey: KeyObject;
  /** Upper-case hex. */
  readonly serial: string;
}

const variables = {
  PAYMENT_WECHATPAY_API_V3_KEY: 'secret',
  PAYMENT_WECHATPAY_MCHID: 'open',
  PAYMENT_WECHATPAY_APPID: 'open',
  PAYMENT_WECHATPAY_SUB_MCHID: 'open',
  PAYMENT_WECHATPAY_KEYS_DIR: 'open',
  PAYMENT_WECHATPAY_PRIVATE_KEY: 'secret',
  PAYMENT_WECHATPAY_SERIAL: 'open',
} as const;
type Reads = SettingReads<keyof typeof variables>;

export const wechatpay = definePlatform({
  name: 'wechatpay',
  settings: { variables, keys_directory: 'PAYMENT_WECHATPAY_KEYS_DIR', read: readSettings },
  currencies: { default: 'CNY', is_only: true },
  number_fields: ['out_trade_no'],
  // The platform does not read the body of a 200. Its older documents require this one.
  acknowledgement: {
    contentType: 'application/json; charset=utf-8',
    body: '{"code":"SUCCESS","message":"OK"}',
  },
  error_code: 'FAIL',
  verify: ({ keysDirectory, ...settings }, { report }) =>
    verifyWechatPay({ ...settings, keys: makeWechatPayKeys(keysDirectory, report) }),
  client: (
    { api, mchId, keysDirectory },
    { call, now, report, baseUrl = 'https://api.mch.weixin.qq.com' },
  ) =>
    api === null
      ? null
      : makeWechatPayClient({
          baseUrl,
          signer: { ...api, mchId },
          keys: makeWechatPayKeys(keysDirectory, report),
          call,
          now,
          makeNonce: () => randomBytes(16).toString('hex'),
        }),
  make: (client, merchant, now) => makeWechatPayMaker({ merchant, client, now }),
  query: (client, merchant) => makeWechatPayQueries({ merchant, client }),
});

function readSettings(reads: Reads) {
  const { read, list, one } = reads;
  const isSet = reads.hasAll([
    'PAYMENT_WECHATPAY_API_V3_KEY',
    'PAYMENT_WECHATPAY_MCHID',
    'PAYMENT_WECHATPAY_APPID',
    'PAYMENT_WECHATPAY_KEYS_DIR',
  ]);
  if (!isSet) return null;
  const keys = list('PAYMENT_WECHATPAY_API_V3_KEY', matching(/^[\x21-\x7e]{32}$/), 'a key of 32 characters');
  const mchId = one('PAYMENT_WECHATPAY_MCHID', /^\d{6,12}$/, 'the merchant number (digits)');
  const appId = one('PAYMENT_WECHATPAY_APPID', /^[0-9A-Za-z]{1,32}$/, 'the id of the app (wx…)');
  const isPartner = read('PAYMENT_WECHATPAY_SUB_MCHID') !== undefined;
  const subMchId = isPartner
    ? one('PAYMENT_WECHATPAY_SUB_MCHID', /^\d{6,12}$/, 'the number of the sub-merchant (digits)')
    : null;
  if (keys === null || mchId === null || appId === null || (isPartner && subMchId === null)) return null;
  const apiV3Keys = keys.map((key) => Buffer.from(key, 'latin1'));
  const keysDirectory = read('PAYMENT_WECHATPAY_KEYS_DIR') ?? '';
  return { apiV3Keys, mchId, appId, subMchId, keysDirectory, api: readApi(reads) };
}

/** Reads the key and the serial number of the merchant's API certificate. */
function readApi({ read, problem }: Reads): WechatPayApi | null {
  const text = read('PAYMENT_WECHATPAY_PRIVATE_KEY');
  const serial = read('PAYMENT_WECHATPAY_SERIAL')?.trim().toUpperCase();
  if (text === undefined && serial === undefined) return null;
  const privateKey = parsePrivateKey(text ?? '');
  if (privateKey === null) return problem('PAYMENT_WECHATPAY_PRIVATE_KEY', expectedPrivateKey);
  if (serial === undefined || !/^[0-9A-F]{8,64}$/.test(serial)) {
    return problem(
      'PAYMENT_WECHATPAY_SERIAL',
      'must be the serial number of the merchant’s API certificate (hex)',
    );
  }
  return { privateKey, serial };
}
