import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { makeAlipay } from '../../../src/areas/payments/platforms/alipay/alipay.js';
import { makeEpay } from '../../../src/areas/payments/platforms/epay/epay.js';
import type { PaymentProvider } from '../../../src/areas/payments/platforms/payment-provider.js';
import type { FoundCertificates } from '../../../src/areas/payments/platforms/paypal/paypal-certificates.js';
import { makePayPal } from '../../../src/areas/payments/platforms/paypal/paypal.js';
import { makeStandard, parseStandardSecret } from '../../../src/areas/payments/platforms/standard.js';
import { makeStripe } from '../../../src/areas/payments/platforms/stripe/stripe.js';
import { makeWechatPay } from '../../../src/areas/payments/platforms/wechatpay/wechatpay.js';
import { merchant } from '../../areas/payments/platforms/messages/messages.js';
import {
  type SentCallback,
  signAlipay,
  signEpay,
  signPayPal,
  signStandard,
  signStripe,
  signWechatPay,
} from './sign-callbacks.js';

/** A payment as its platform reports it. */
export interface ToldPayment {
  readonly orderNumber: string;
  /**
   * 8 to 20 letters and digits. They also identify the message, so the same transaction with other content is a
   * conflict.
   */
  readonly transaction: string;
  /** The amount in minor units, or a value that cannot be read. */
  readonly amount: number | 'unreadable';
  readonly currency: string;
}

/** A platform: its provider, which verifies messages, and its messages. */
export interface PaymentPlatform {
  readonly provider: PaymentProvider;
  /** Returns the message about a payment, signed at that time. */
  pay(payment: ToldPayment, at: Date): SentCallback;
  /**
   * Returns the same genuine message in a form that the service cannot judge now: sealed under an unknown key, or
   * signed with a key that cannot be fetched.
   */
  readonly payUnjudged?: (payment: ToldPayment, at: Date) => SentCallback;
}

const serial = 'PUB_KEY_ID_0114232134912410000000000000';
const certificates = 'https://api.paypal.com/v1/notifications/certs';

/** Makes the six platforms with separate keys, derived from the name. */
export function makePaymentPlatforms(name: string): Readonly<Record<PaymentProviderName, PaymentPlatform>> {
  // Three platforms share one key pair, because making it takes longer than all other steps.
  const keys = makeRsaKeys();
  return {
    stripe: stripe(`whsec_TestOnly${name.padStart(16, '0')}`),
    wechatpay: wechatpay(`TestOnly${name.padStart(24, '0')}`, keys),
    alipay: alipay(keys),
    paypal: paypal(keys),
    standard: standard(`whsec_${Buffer.from(name.padStart(24, '0')).toString('base64')}`),
    epay: epay(`TestOnly${name.padStart(24, '0')}`),
  };
}

interface RsaKeys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function makeRsaKeys(): RsaKeys {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

function stripe(secret: string): PaymentPlatform {
  return {
    provider: makeStripe({ secrets: [secret], livemode: true }),
    pay: ({ orderNumber, transaction, amount, currency }, at) => {
      const session: JsonObject = {
        ...{ id: `cs_${transaction}`, object: 'checkout.session', client_reference_id: orderNumber },
        ...{ amount_total: amount, currency: currency.toLowerCase(), payment_intent: `pi_${transaction}` },
        ...{ payment_status: 'paid', status: 'complete' },
      };
      const type = 'checkout.session.completed';
      const event = { id: `evt_${transaction}`, object: 'event', type, livemode: true };
      return signStripe({ ...event, created: 1_767_323_000, data: { object: session } }, { secret, at });
    },
  };
}

function wechatpay(apiV3Key: string, { publicKey, privateKey }: RsaKeys): PaymentPlatform {
  const key = { key: publicKey, validFrom: Number.NEGATIVE_INFINITY, validTo: Number.POSITIVE_INFINITY };
  const keys = (asked: string) => (asked === serial ? key : null);
  const { mchId: mchid, appId: appid } = merchant.wechatpay;
  let sent = 0;
  const signWith =
    (sealedUnder: string): PaymentPlatform['pay'] =>
    ({ orderNumber, transaction, amount, currency }, at) => {
      const create_time = '2026-01-02T11:04:00+08:00';
      const message = { id: `EV-${transaction}`, create_time, event_type: 'TRANSACTION.SUCCESS' };
      const payment = { mchid, appid, out_trade_no: orderNumber, transaction_id: `42${transaction}` };
      const resource = { ...payment, trade_state: 'SUCCESS', amount: { total: amount, currency } };
      sent += 1;
      const nonce = String(sent).padStart(12, '0');
      return signWechatPay(message, resource, { apiV3Key: sealedUnder, privateKey, serial, nonce, at });
    };
  return {
    provider: makeWechatPay({ ...merchant.wechatpay, keys, apiV3Keys: [Buffer.from(apiV3Key)] }),
    pay: signWith(apiV3Key),
    payUnjudged: signWith('x'.repeat(32)),
  };
}

function alipay({ publicKey, privateKey }: RsaKeys): PaymentPlatform {
  const { appId: app_id, sellerId: seller_id } = merchant.alipay;
  return {
    provider: makeAlipay({ ...merchant.alipay, publicKeys: [publicKey] }),
    pay: ({ orderNumber, transaction, amount }) => {
      const trade = { out_trade_no: orderNumber, trade_no: transaction, trade_status: 'TRADE_SUCCESS' };
      const notification = { notify_id: `n${transaction}`, notify_type: 'trade_status_sync' };
      const ours = { app_id, seller_id, charset: 'utf-8', subject: '容量 & more' };
      return signAlipay({ ...notification, ...ours, ...trade, total_amount: inYuan(amount) }, { privateKey });
    },
  };
}

function paypal({ publicKey, privateKey }: RsaKeys): PaymentPlatform {
  const { webhookId } = merchant.paypal;
  const found: FoundCertificates = { kind: 'found', keys: [publicKey] };
  const away: FoundCertificates = { kind: 'unavailable', problem: 'PayPal cannot be reached' };
  const signWith =
    (certificate: string): PaymentPlatform['pay'] =>
    ({ orderNumber, transaction, amount, currency }, at) => {
      const capture = {
        ...{ id: transaction, custom_id: orderNumber, status: 'COMPLETED' },
        amount: { value: inYuan(amount), currency_code: currency },
      };
      const event_type = 'PAYMENT.CAPTURE.COMPLETED';
      const event = { id: `WH-${transaction}`, event_type, resource_type: 'capture', resource: capture };
      const certificateUrl = `${certificates}/${certificate}`;
      const id = `transmission-${transaction}`;
      return signPayPal(event, { id, webhookId, privateKey, certificateUrl, at });
    };
  return {
    provider: makePayPal({
      webhookId,
      certificates: (url) => Promise.resolve(url.endsWith('CERT-away') ? away : found),
    }),
    pay: signWith('CERT-here'),
    payUnjudged: signWith('CERT-away'),
  };
}

function standard(secret: string): PaymentPlatform {
  const check = parseStandardSecret(secret);
  return {
    provider: makeStandard({ checks: check === null ? [] : [check] }),
    pay: ({ orderNumber, transaction, amount, currency }, at) => {
      const data = { order_number: orderNumber, transaction_id: transaction, amount, currency };
      const message = { type: 'payment.paid', timestamp: '2026-01-02T03:04:00.000Z', data };
      return signStandard(message, { id: `msg_${transaction}`, secret, at });
    },
  };
}

function epay(key: string): PaymentPlatform {
  return {
    provider: makeEpay({ ...merchant.epay, keys: [key] }),
    pay: ({ orderNumber, transaction, amount }) => {
      const trade = { out_trade_no: orderNumber, trade_no: transaction, trade_status: 'TRADE_SUCCESS' };
      const goods = { type: 'alipay', name: '容量 100G', money: inYuan(amount) };
      return signEpay({ pid: merchant.epay.pid, ...trade, ...goods }, { key });
    },
  };
}

/** Formats hundredths as a decimal number. */
function inYuan(amount: number | 'unreadable'): string {
  return amount === 'unreadable' ? amount : (amount / 100).toFixed(2);
}
