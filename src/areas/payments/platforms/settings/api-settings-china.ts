import type { KeyObject } from 'node:crypto';
import type { SettingReads } from './api-settings.js';
import { parsePrivateKey } from './certificates.js';

/** What signs requests to WeChat Pay; null: the service asks it for nothing. */
export interface WechatPayApi {
  readonly privateKey: KeyObject;
  /** Upper-case hex. */
  readonly serial: string;
}

/** What signs requests to Alipay; null: the service asks it for nothing. */
export interface AlipayApi {
  readonly privateKey: KeyObject;
}

/** Where the forms of an epay gateway go; null: the service makes none. */
export interface EpayApi {
  /** Without a slash at its end. */
  readonly gateway: string;
}

const keyText = 'must be an RSA private key (PEM or base64, 2048 bits or more)';

/** Reads the key and the serial number of the merchant's API certificate. */
export function readWechatPayApi({ read, problem }: SettingReads): WechatPayApi | null {
  const text = read('PAYMENT_WECHATPAY_PRIVATE_KEY');
  const serial = read('PAYMENT_WECHATPAY_SERIAL')?.trim().toUpperCase();
  if (text === undefined && serial === undefined) return null;
  const privateKey = parsePrivateKey(text ?? '');
  if (privateKey === null) return problem('PAYMENT_WECHATPAY_PRIVATE_KEY', keyText);
  if (serial === undefined || !/^[0-9A-F]{8,64}$/.test(serial)) {
    return problem(
      'PAYMENT_WECHATPAY_SERIAL',
      'must be the serial number of the merchant’s API certificate (hex)',
    );
  }
  return { privateKey, serial };
}

/** Reads the key of the app, whose public key Alipay's console has. */
export function readAlipayApi({ read, problem }: SettingReads): AlipayApi | null {
  const text = read('PAYMENT_ALIPAY_PRIVATE_KEY');
  if (text === undefined) return null;
  const privateKey = parsePrivateKey(text);
  return privateKey === null ? problem('PAYMENT_ALIPAY_PRIVATE_KEY', keyText) : { privateKey };
}

/** Reads the address of the gateway, to which buyers' browsers post. */
export function readEpayApi({ read, problem }: SettingReads): EpayApi | null {
  const text = read('PAYMENT_EPAY_GATEWAY_URL')?.trim().replace(/\/$/, '');
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && url.protocol === 'https:' && url.username === '' && url.search === '' && url.hash === '';
  return isPlain
    ? { gateway: text }
    : problem('PAYMENT_EPAY_GATEWAY_URL', 'must be the https address of the gateway, without a query');
}
