import type { ExecutionContext } from 'ava';
import { makeAllowedAddress } from '../../../../../src/outgoing/addresses.js';
import { makeOutgoingHttp } from '../../../../../src/outgoing/outgoing-http.js';
import { verifyAlipay } from '../../../../../src/areas/payments/platforms/alipay/alipay-callbacks.js';
import { makeAlipayClient } from '../../../../../src/areas/payments/platforms/alipay/alipay-client.js';
import {
  makeAlipayMaker,
  makeAlipayQueries,
} from '../../../../../src/areas/payments/platforms/alipay/alipay-maker.js';
import {
  type PaymentRequest,
  PlatformError,
} from '../../../../../src/areas/payments/platforms/payment-maker.js';
import type { PaymentProvider } from '../../../../../src/areas/payments/platforms/payment-provider.js';
import { makeCallPlatform } from '../../../../../src/areas/payments/platforms/calls/platform-calls.js';
import { verifyWechatPay } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-callbacks.js';
import { makeWechatPayClient } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-client.js';
import { makeWechatPayMaker } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-maker.js';
import { makeWechatPayQueries } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-query.js';
import type { SentCallback } from '../../../../support/clients/sign-callbacks.js';
import { rsaKeys } from '../../../../support/fakes/rsa-keys.js';
import { givenFakeAlipay } from '../../../../support/platforms/fake-alipay.js';
import { givenFakeWechatPay } from '../../../../support/platforms/fake-wechatpay.js';
import { platformOptions } from '../../../../support/platforms/platform-server.js';
import { arrivesAt, merchant, order, secrets } from '../messages/messages.js';
import { providerOf } from '../vectors/vectors.js';

export const merchantKeys = rsaKeys('a stranger');
export const platformKeys = rsaKeys('ours');
export const merchantSerial = '3775B6A45ACD588826D15E583A95F5DD4F10C8A1';
const platformSerial = 'PUB_KEY_ID_0114232134912410000000000000';

const now = (): Date => arrivesAt;
const http = makeOutgoingHttp({ ...platformOptions, isAllowed: makeAllowedAddress(['127.0.0.0/8']) });

/** An order of 69 yuan that ends in a day. */
export const paymentRequest: PaymentRequest = {
  orderNumber: order,
  price: { amount: 6_900, currency: 'CNY' },
  title: '容量 100 GiB & more=1/2',
  returnUrl: 'https://shop.example.org/thanks?order=1',
  callbackUrl: 'https://stowage.example.org/api/v1/payment/webhooks/platform',
  expiresAt: new Date('2026-01-03T03:04:05.678Z'),
  clientIp: '203.0.113.7',
  isMobile: false,
  idempotencyKey: 'payment-1',
};

/** A refund of a part of the payment of `paymentRequest`, which has this transaction. */
export const refundOf = (transactionId: string, amount: number, idempotencyKey: string) => ({
  ...{ orderNumber: order, transactionId, idempotencyKey, callbackUrl: paymentRequest.callbackUrl },
  ...{ amount: { ...paymentRequest.price, amount }, paid: paymentRequest.price },
});

/** Waits for a platform as long as the service does, and not between two tries. */
export function makeTestCall() {
  return makeCallPlatform({ http, sleep: () => Promise.resolve() });
}

/**
 * WeChat Pay over TLS, the maker that asks it, and the provider that verifies its callbacks.
 * @param signing the keys with which the platform signs
 */
export async function givenWechatPay(
  t: ExecutionContext,
  subMchId: string | null = null,
  signing = platformKeys,
) {
  const ours = { ...merchant.wechatpay, subMchId };
  const platform = await givenFakeWechatPay(t, {
    ...ours,
    merchantKey: merchantKeys.publicKey,
    merchantSerial,
    platformKey: signing.privateKey,
    platformSerial,
    apiV3Key: secrets.wechatpayApiV3Key,
    now,
  });
  const key = { key: platformKeys.publicKey, validFrom: -Infinity, validTo: Infinity };
  const keys = (serial: string) => (serial === platformSerial ? key : null);
  const makeClient = (privateKey = merchantKeys.privateKey) =>
    makeWechatPayClient({
      baseUrl: `https://api.mch.weixin.qq.com:${platform.port}`,
      signer: { mchId: ours.mchId, privateKey, serial: merchantSerial },
      keys,
      call: makeTestCall(),
      now,
      makeNonce: () => 'nonce0123456789',
    });
  const client = makeClient();
  return {
    platform,
    makeClient,
    maker: {
      ...makeWechatPayMaker({ merchant: ours, client, now }),
      ...makeWechatPayQueries({ merchant: ours, client }),
    },
    provider: providerOf(
      'wechatpay',
      verifyWechatPay({ ...ours, keys, apiV3Keys: [Buffer.from(secrets.wechatpayApiV3Key)] }),
    ),
  };
}

/** Alipay over TLS, the maker that asks it, and the provider that verifies its notifications. */
export async function givenAlipay(t: ExecutionContext, publicKeys = [platformKeys.publicKey]) {
  const { appId, sellerId } = merchant.alipay;
  const platform = await givenFakeAlipay(t, {
    ...{ appId, sellerId, now },
    appKey: merchantKeys.publicKey,
    alipayKey: platformKeys.privateKey,
  });
  const gateway = `https://openapi.alipay.com:${platform.port}/gateway.do`;
  const signer = { appId, privateKey: merchantKeys.privateKey, gateway };
  const client = makeAlipayClient({ signer, publicKeys, call: makeTestCall(), now });
  return {
    platform,
    maker: { ...makeAlipayMaker({ signer, client, now }), ...makeAlipayQueries({ client, sellerId }) },
    provider: providerOf('alipay', verifyAlipay({ appId, sellerId, publicKeys: [platformKeys.publicKey] })),
  };
}

/** Opens an address as a browser does, and returns the text of the page. */
export async function browse(url: string, form?: Readonly<Record<string, string>>): Promise<string> {
  const reply = await http(
    form === undefined
      ? { method: 'GET', url }
      : {
          method: 'POST',
          url,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: Buffer.from(new URLSearchParams(form).toString()),
        },
  );
  return reply.body.toString();
}

/** Returns the facts of a callback, as the service reads them. */
export async function factsOf(provider: PaymentProvider, { method, query, headers, body }: SentCallback) {
  const received = { method, query: query.slice(1), headers, body: Buffer.from(body), receivedAt: arrivesAt };
  const verification = await provider.verify(received);
  if (verification.kind !== 'verified') throw new Error(`the callback is ${verification.kind}`);
  const { isOurs, notifications } = verification.callback;
  return { isOurs, facts: notifications.map(({ order_number, fact }) => ({ order_number, fact })) };
}

/** Returns the failure and the code with which a platform's call ends. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return `${error.failure} ${error.code ?? ''}`;
  }
}
