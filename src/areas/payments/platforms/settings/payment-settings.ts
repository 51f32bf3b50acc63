import type { KeyObject } from 'node:crypto';
import { parseAlipayKey } from '../alipay/alipay.js';
import { readPayPalApi, readStripeApi, type StripeApi } from './api-settings.js';
import {
  type AlipayApi,
  type EpayApi,
  readAlipayApi,
  readEpayApi,
  readWechatPayApi,
  type WechatPayApi,
} from './api-settings-china.js';
import type { PayPalEnvironment } from '../paypal/paypal-certificates.js';
import type { PayPalApi } from '../paypal/paypal-client.js';
import type { PaymentVariableName } from './payment-variables.js';
import { simulatorWebhookId } from '../paypal/paypal.js';
import { parseStandardSecret, type StandardCheck } from '../standard.js';

/** Null: the platform is not configured. Its `api` is null: the service makes no payment there. */
export interface PaymentSettings {
  readonly stripe: {
    readonly secrets: readonly string[];
    readonly livemode: boolean | undefined;
    readonly api: StripeApi | null;
  } | null;
  readonly wechatpay: {
    readonly apiV3Keys: readonly Buffer[];
    readonly mchId: string;
    readonly appId: string;
    readonly subMchId: string | null;
    readonly keysDirectory: string;
    readonly api: WechatPayApi | null;
  } | null;
  readonly alipay: {
    readonly appId: string;
    readonly sellerId: string;
    readonly publicKeys: readonly KeyObject[];
    readonly api: AlipayApi | null;
  } | null;
  readonly paypal: {
    readonly webhookId: string;
    readonly environment: PayPalEnvironment;
    readonly certificatesDirectory: string | undefined;
    readonly api: PayPalApi | null;
  } | null;
  readonly standard: { readonly checks: readonly StandardCheck[] } | null;
  readonly epay: {
    readonly pid: string;
    readonly keys: readonly string[];
    readonly api: EpayApi | null;
  } | null;
}

type Read = (name: PaymentVariableName) => string | undefined;

/**
 * Reads the payment variables (docs/configuration.md#payment-platforms). Commas separate the items of a list, so that keys can
 * rotate. One variable of a platform requires its others, so that an incomplete configuration is an error.
 * @returns the settings, and their problems: one sentence a variable, without values
 */
export function readPaymentSettings(read: Read): {
  readonly settings: PaymentSettings;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const problem = (name: PaymentVariableName, text: string): null => {
    problems.push(`${name} ${text}`);
    return null;
  };
  const settings = {
    stripe: stripe(),
    wechatpay: wechatpay(),
    alipay: alipay(),
    paypal: paypal(),
    standard: standard(),
    epay: epay(),
  };
  return { settings, problems };

  /** Returns a reader of these variables; null if none (nor of `others`) is set, or if some are missing (a problem). */
  function all<Name extends PaymentVariableName>(
    names: readonly Name[],
    others: readonly PaymentVariableName[] = [],
  ): ((name: Name) => string) | null {
    if ([...names, ...others].every((name) => read(name) === undefined)) return null;
    const missing = names.filter((name) => read(name) === undefined);
    for (const name of missing) problem(name, 'must be set too, since others of this platform are');
    return missing.length > 0 ? null : (name) => read(name) ?? '';
  }

  function list<Item>(
    name: PaymentVariableName,
    parse: (text: string) => Item | null,
    expected: string,
  ): readonly Item[] | null {
    // Some consoles show secrets of Standard Webhooks with the version of their signatures before them.
    const text = (read(name) ?? '').replaceAll(/(?<=^|,)\s*v1a?,(?=\s*wh(?:sec|pk)_)/g, '');
    const items = text.split(',').map((item) => item.trim());
    const parsed = items.filter((text) => text !== '').map(parse);
    const good = parsed.filter((item) => item !== null);
    if (good.length > 0 && good.length === parsed.length) return good;
    return problem(name, `must be ${expected}, or several, separated by commas`);
  }

  function stripe(): PaymentSettings['stripe'] {
    const value = all(
      ['PAYMENT_STRIPE_WEBHOOK_SECRETS'],
      ['PAYMENT_STRIPE_LIVEMODE', 'PAYMENT_STRIPE_SECRET_KEY'],
    );
    const livemode = truth('PAYMENT_STRIPE_LIVEMODE');
    if (value === null) return null;
    const secrets = list(
      'PAYMENT_STRIPE_WEBHOOK_SECRETS',
      matching(/^whsec_[\x21-\x7e]{16,}$/),
      'a secret (whsec_…)',
    );
    if (secrets === null || livemode === null) return null;
    return { secrets, livemode, api: readStripeApi({ read, problem }, livemode) };
  }

  function wechatpay(): PaymentSettings['wechatpay'] {
    const value = all(
      [
        'PAYMENT_WECHATPAY_API_V3_KEY',
        'PAYMENT_WECHATPAY_MCHID',
        'PAYMENT_WECHATPAY_APPID',
        'PAYMENT_WECHATPAY_KEYS_DIR',
      ],
      ['PAYMENT_WECHATPAY_SUB_MCHID', 'PAYMENT_WECHATPAY_PRIVATE_KEY', 'PAYMENT_WECHATPAY_SERIAL'],
    );
    if (value === null) return null;
    const keys = list(
      'PAYMENT_WECHATPAY_API_V3_KEY',
      matching(/^[\x21-\x7e]{32}$/),
      'a key of 32 characters',
    );
    const mchId = one('PAYMENT_WECHATPAY_MCHID', /^\d{6,12}$/, 'the merchant number (digits)');
    const appId = one('PAYMENT_WECHATPAY_APPID', /^[0-9A-Za-z]{1,32}$/, 'the id of the app (wx…)');
    const isPartner = read('PAYMENT_WECHATPAY_SUB_MCHID') !== undefined;
    const subMchId = isPartner
      ? one('PAYMENT_WECHATPAY_SUB_MCHID', /^\d{6,12}$/, 'the number of the sub-merchant (digits)')
      : null;
    if (keys === null || mchId === null || appId === null || (isPartner && subMchId === null)) return null;
    const apiV3Keys = keys.map((key) => Buffer.from(key, 'latin1'));
    const keysDirectory = value('PAYMENT_WECHATPAY_KEYS_DIR');
    return { apiV3Keys, mchId, appId, subMchId, keysDirectory, api: readWechatPayApi({ read, problem }) };
  }

  function alipay(): PaymentSettings['alipay'] {
    const value = all(
      ['PAYMENT_ALIPAY_APP_ID', 'PAYMENT_ALIPAY_SELLER_ID', 'PAYMENT_ALIPAY_PUBLIC_KEYS'],
      ['PAYMENT_ALIPAY_PRIVATE_KEY'],
    );
    if (value === null) return null;
    const publicKeys = list(
      'PAYMENT_ALIPAY_PUBLIC_KEYS',
      parseAlipayKey,
      'the public key of Alipay (base64, or PEM, RSA, 2048 bits or more)',
    );
    const appId = one('PAYMENT_ALIPAY_APP_ID', /^\d{1,32}$/, 'the id of the app (digits)');
    const sellerId = one('PAYMENT_ALIPAY_SELLER_ID', /^\d{1,32}$/, 'the number of the seller (2088…)');
    return publicKeys === null || appId === null || sellerId === null
      ? null
      : { appId, sellerId, publicKeys, api: readAlipayApi({ read, problem }) };
  }

  function paypal(): PaymentSettings['paypal'] {
    const value = all(
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
    if (value === null) return null;
    const webhookId = one('PAYMENT_PAYPAL_WEBHOOK_ID', /^[0-9A-Za-z_-]{1,64}$/, 'the id of the webhook');
    if (webhookId === simulatorWebhookId) {
      return problem('PAYMENT_PAYPAL_WEBHOOK_ID', 'is the simulator’s, which signs for everybody');
    }
    const certificatesDirectory = read('PAYMENT_PAYPAL_CERTIFICATES_DIR');
    if (webhookId === null) return null;
    return { webhookId, environment, certificatesDirectory, api: readPayPalApi({ read, problem }) };
  }

  function standard(): PaymentSettings['standard'] {
    if (all(['PAYMENT_STANDARD_WEBHOOK_SECRETS']) === null) return null;
    const checks = list(
      'PAYMENT_STANDARD_WEBHOOK_SECRETS',
      parseStandardSecret,
      'a secret (24 to 64 bytes in base64, with or without whsec_) or a public key (whpk_ and 32 bytes in base64)',
    );
    return checks === null ? null : { checks };
  }

  /** Epay is off unless it is enabled, even if its other variables are set. */
  function epay(): PaymentSettings['epay'] {
    const enabled = truth('PAYMENT_EPAY_ENABLED');
    if (enabled !== true) return null;
    if (all(['PAYMENT_EPAY_PID', 'PAYMENT_EPAY_KEYS'], ['PAYMENT_EPAY_ENABLED']) === null) return null;
    const pid = one('PAYMENT_EPAY_PID', /^[0-9A-Za-z_-]{1,128}$/, 'the id of the merchant');
    const keys = list(
      'PAYMENT_EPAY_KEYS',
      matching(/^[\x21-\x7e]{16,128}$/),
      'a key of 16 characters or more',
    );
    return pid === null || keys === null ? null : { pid, keys, api: readEpayApi({ read, problem }) };
  }

  function one(name: PaymentVariableName, shape: RegExp, expected: string): string | null {
    const text = read(name)?.trim() ?? '';
    return shape.test(text) ? text : problem(name, `must be ${expected}`);
  }

  function truth(name: PaymentVariableName): boolean | undefined | null {
    const text = read(name);
    if (text === undefined) return undefined;
    return text === 'true' || text === 'false' ? text === 'true' : problem(name, 'must be true or false');
  }
}

function matching(shape: RegExp): (text: string) => string | null {
  return (text) => (shape.test(text) ? text : null);
}
