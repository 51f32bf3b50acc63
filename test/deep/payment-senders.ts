import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { PaymentProviderName } from '../../src/areas/payments/domain/payment.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { merchant, secrets } from '../areas/payments/platforms/messages/messages.js';
import type { RawReply } from '../support/clients/http-socket.js';
import { paypalCertificate, paypalPrivateKey } from '../support/examples/paypal-certificate.js';
import {
  type SentCallback,
  signAlipay,
  signEpay,
  signPayPal,
  signStandard,
  signStripe,
  signWechatPay,
} from '../support/clients/sign-callbacks.js';
import {
  alipayFields,
  alipayTime,
  chinaTime,
  inDecimals,
  type Payment,
  paypalEvents,
  standardType,
  type Step,
  stripeEvents,
  wechatResources,
} from './payment-messages.js';

/** One message of a platform, which signs it again for each delivery. */
export interface PlatformMessage {
  readonly provider: PaymentProviderName;
  /** The name that makes two deliveries the same message. */
  readonly key: string;
  sign(now: Date): SentCallback;
}

export interface Platform {
  readonly name: PaymentProviderName;
  readonly knows: readonly (Step['kind'] | 'failing refund')[];
  /** Returns the messages that the platform sends about a step. */
  tell(payment: Payment, step: Step, at: Date): readonly PlatformMessage[];
  /** Returns whether the platform takes the reply for an acknowledgement. */
  isAcknowledged(reply: RawReply): boolean;
}

export interface Platforms {
  readonly all: readonly Platform[];
  /** The settings with which a service verifies the platforms, without key directories. */
  readonly environment: Readonly<Record<string, string>>;
  /** The one file of each key directory, by the variable that names the directory. */
  readonly keyFiles: Readonly<Record<string, { readonly file: string; readonly pem: string }>>;
}

const serial = 'PUB_KEY_ID_0114232134912410000000000000';
const isOk = ({ status }: RawReply): boolean => status >= 200 && status < 300;
/** Alipay requires exactly this word, and epay searches for it. */
const saysSuccess = ({ text }: RawReply): boolean => text === 'success';

/** Makes the platforms whose messages the campaign can write, with new keys. */
export function makePlatforms(): Platforms {
  const [wechat, ali] = [makeKeys(), makeKeys()];
  let messages = 0;
  const unique = (): string => {
    messages += 1;
    return String(messages).padStart(8, '0');
  };

  const standard: Platform = {
    name: 'standard',
    knows: ['pending', 'paid', 'failed', 'expired', 'canceled', 'refund', 'dispute', 'noise'],
    isAcknowledged: isOk,
    tell: ({ orderNumber, transaction, amount, currency }, step, at) => {
      const id = `msg_${unique()}`;
      const data: JsonObject = {
        ...{ order_number: orderNumber, transaction_id: transaction, amount, currency },
        ...(step.kind === 'refund' ? { refunded_amount: step.total } : {}),
      };
      const message = { type: standardType(step), timestamp: at.toISOString(), data };
      const secret = secrets.standard;
      return [
        { provider: 'standard', key: id, sign: (now) => signStandard(message, { id, secret, at: now }) },
      ];
    },
  };

  const stripe: Platform = {
    name: 'stripe',
    knows: ['pending', 'paid', 'failed', 'expired', 'refund', 'dispute', 'noise'],
    isAcknowledged: isOk,
    tell: (payment, step, at) =>
      stripeEvents(payment, step).map(([type, object]) => {
        const id = `evt_${unique()}`;
        const created = Math.floor(at.getTime() / 1_000);
        const event = { id, object: 'event', type, created, livemode: true, data: { object } };
        // The platform signs with either secret during a rotation.
        const sign = (now: Date): SentCallback =>
          signStripe(event, { secret: secrets.stripe[now.getTime() % 2 === 0 ? 0 : 1], at: now });
        return { provider: 'stripe', key: id, sign };
      }),
  };

  const wechatpay: Platform = {
    name: 'wechatpay',
    knows: ['paid', 'refund', 'failing refund', 'noise'],
    isAcknowledged: isOk,
    tell: (payment, step, at) =>
      wechatResources(payment, step, chinaTime(at)).map(([type, resource]) => {
        const id = `EV-${unique()}`;
        const message = {
          id,
          create_time: chinaTime(at),
          resource_type: 'encrypt-resource',
          event_type: type,
        };
        const keys = { apiV3Key: secrets.wechatpayApiV3Key, privateKey: wechat.privateKey, serial };
        const sign = (now: Date): SentCallback =>
          signWechatPay(message, resource, { ...keys, nonce: `nonce${unique().slice(-7)}`, at: now });
        return { provider: 'wechatpay', key: id, sign };
      }),
  };

  const alipay: Platform = {
    name: 'alipay',
    knows: ['pending', 'paid', 'expired', 'refund', 'noise'],
    isAcknowledged: saysSuccess,
    tell: (payment, step, at) => {
      const key = `notify${unique()}`;
      const fields = { notify_id: key, ...alipayFields(payment, step, at) };
      const sign = (now: Date): SentCallback =>
        signAlipay({ ...fields, notify_time: alipayTime(now) }, { privateKey: ali.privateKey });
      return [{ provider: 'alipay', key, sign }];
    },
  };

  const paypalKey = createPrivateKey(paypalPrivateKey);
  const paypal: Platform = {
    name: 'paypal',
    knows: ['pending', 'paid', 'failed', 'canceled', 'refund', 'failing refund', 'dispute', 'noise'],
    isAcknowledged: isOk,
    tell: (payment, step, at) =>
      paypalEvents(payment, step).map(([event_type, resource_type, resource]) => {
        const id = `transmission-${unique()}`;
        const event = {
          id: `WH-${unique()}`,
          create_time: at.toISOString(),
          event_type,
          resource_type,
          resource,
        };
        // A service with configured certificates ignores this address.
        const certificateUrl = 'https://api.paypal.com/v1/notifications/certs/CERT-1';
        const keys = { ...merchant.paypal, privateKey: paypalKey, certificateUrl };
        return { provider: 'paypal', key: id, sign: (now) => signPayPal(event, { ...keys, id, at: now }) };
      }),
  };

  const epay: Platform = {
    name: 'epay',
    knows: ['paid'],
    isAcknowledged: saysSuccess,
    tell: ({ orderNumber, transaction, amount }) => {
      const trade = { pid: merchant.epay.pid, trade_no: transaction, out_trade_no: orderNumber };
      const rest = { type: 'alipay', name: '容量', money: inDecimals(amount), trade_status: 'TRADE_SUCCESS' };
      const sign = (now: Date): SentCallback =>
        signEpay({ ...trade, ...rest }, { key: secrets.epay[now.getTime() % 2 === 0 ? 0 : 1] });
      return [{ provider: 'epay', key: transaction, sign }];
    },
  };

  return {
    all: [standard, stripe, wechatpay, alipay, paypal, epay],
    environment: {
      PAYMENT_STANDARD_WEBHOOK_SECRETS: secrets.standard,
      PAYMENT_STRIPE_WEBHOOK_SECRETS: secrets.stripe.join(','),
      PAYMENT_WECHATPAY_API_V3_KEY: secrets.wechatpayApiV3Key,
      PAYMENT_WECHATPAY_MCHID: merchant.wechatpay.mchId,
      PAYMENT_WECHATPAY_APPID: merchant.wechatpay.appId,
      PAYMENT_ALIPAY_APP_ID: merchant.alipay.appId,
      PAYMENT_ALIPAY_SELLER_ID: merchant.alipay.sellerId,
      PAYMENT_ALIPAY_PUBLIC_KEYS: ali.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
      PAYMENT_PAYPAL_WEBHOOK_ID: merchant.paypal.webhookId,
      PAYMENT_EPAY_ENABLED: 'true',
      PAYMENT_EPAY_PID: merchant.epay.pid,
      PAYMENT_EPAY_KEYS: secrets.epay.join(','),
    },
    keyFiles: {
      PAYMENT_WECHATPAY_KEYS_DIR: {
        file: `${serial}.pem`,
        pem: wechat.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
      },
      PAYMENT_PAYPAL_CERTIFICATES_DIR: { file: 'signing.pem', pem: paypalCertificate },
    },
  };
}

function makeKeys() {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}
