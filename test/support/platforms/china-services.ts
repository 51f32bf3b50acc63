import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { merchantSerial } from '../../areas/payments/platforms/makers/given-makers.js';
import { merchant, secrets } from '../../areas/payments/platforms/messages/messages.js';
import { givenKeyDirectory } from '../../areas/payments/platforms/vectors/vectors.js';
import { givenFakeAlipay } from './fake-alipay.js';
import { givenFakeWechatPay } from './fake-wechatpay.js';
import { givenPayingService } from './paying-service.js';

const ours = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const theirs = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const now = (): Date => new Date();
const pem = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();
/** The header of a phone's browser. */
export const isPhone = {
  'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148',
};

/** A service that pays at WeChat Pay. @param timeMs the time limit of a call */
export async function givenWechatPayService(t: ExecutionContext, timeMs?: number) {
  const serial = 'PUB_KEY_ID_0114232134912410000000000000';
  const platform = await givenFakeWechatPay(t, {
    ...{ ...merchant.wechatpay, now, apiV3Key: secrets.wechatpayApiV3Key },
    ...{ merchantKey: ours.publicKey, merchantSerial },
    ...{ platformKey: theirs.privateKey, platformSerial: serial },
  });
  const service = await givenPayingService(t, {
    provider: 'wechatpay',
    url: `https://api.mch.weixin.qq.com:${platform.port}`,
    environment: {
      PAYMENT_WECHATPAY_API_V3_KEY: secrets.wechatpayApiV3Key,
      PAYMENT_WECHATPAY_MCHID: merchant.wechatpay.mchId,
      PAYMENT_WECHATPAY_APPID: merchant.wechatpay.appId,
      PAYMENT_WECHATPAY_KEYS_DIR: givenKeyDirectory(t, { [`${serial}.pem`]: pem(theirs.publicKey) }),
      PAYMENT_WECHATPAY_PRIVATE_KEY: pem(ours.privateKey),
      PAYMENT_WECHATPAY_SERIAL: merchantSerial,
    },
    ...(timeMs === undefined ? {} : { timeMs }),
  });
  return { platform, service };
}

/** A service that pays at Alipay. */
export async function givenAlipayService(t: ExecutionContext) {
  const { appId, sellerId } = merchant.alipay;
  const keys = { appKey: ours.publicKey, alipayKey: theirs.privateKey };
  const platform = await givenFakeAlipay(t, { appId, sellerId, now, ...keys });
  const service = await givenPayingService(t, {
    provider: 'alipay',
    url: `https://openapi.alipay.com:${platform.port}`,
    environment: {
      PAYMENT_ALIPAY_APP_ID: appId,
      PAYMENT_ALIPAY_SELLER_ID: sellerId,
      PAYMENT_ALIPAY_PUBLIC_KEYS: pem(theirs.publicKey),
      PAYMENT_ALIPAY_PRIVATE_KEY: pem(ours.privateKey),
    },
  });
  return { platform, service };
}
