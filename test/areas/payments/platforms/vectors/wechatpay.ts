import { verifyWechatPay } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-callbacks.js';
import { signWechatPay } from '../../../../support/clients/sign-callbacks.js';
import { merchant, secrets } from '../messages/messages.js';
import { wechatpayMessages } from '../messages/messages-wechatpay.js';
import { meaningOf, ok, type PlatformUnderTest, type SigningPlatform } from './under-test.js';

const serial = 'PUB_KEY_ID_0114232134912410000000000000';

const wechatpay: PlatformUnderTest = {
  messages: wechatpayMessages,
  digest: '958a9e1b87c928ff7f8336f6fd60342d461f368b11be29818a0a8fe6f032ef0e',
  acknowledgement: { type: ok.type, body: '{"code":"SUCCESS","message":"OK"}' },
  lateMs: 600_000,
  environment: ({ keys }, directoryOf) => ({
    PAYMENT_WECHATPAY_API_V3_KEY: ['x'.repeat(32), secrets.wechatpayApiV3Key].join(','),
    PAYMENT_WECHATPAY_MCHID: merchant.wechatpay.mchId,
    PAYMENT_WECHATPAY_APPID: merchant.wechatpay.appId,
    PAYMENT_WECHATPAY_KEYS_DIR: directoryOf(keys),
  }),
  // The header with the algorithm may be missing.
  meaningOf: (callback) =>
    meaningOf(
      ['timestamp', 'nonce', 'signature', 'serial'].map((one) => `wechatpay-${one}`),
      callback,
    ),
  sign: (name, { publicKey, privateKey }) => {
    const apiV3Key = `TestOnly${name.padStart(24, '0')}`;
    const key = { key: publicKey, validFrom: Number.NEGATIVE_INFINITY, validTo: Number.POSITIVE_INFINITY };
    const keys = (asked: string) => (asked === serial ? key : null);
    const { mchId: mchid, appId: appid } = merchant.wechatpay;
    let sent = 0;
    const signWith =
      (sealedUnder: string): SigningPlatform['pay'] =>
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
      verify: verifyWechatPay({ ...merchant.wechatpay, keys, apiV3Keys: [Buffer.from(apiV3Key)] }),
      pay: signWith(apiV3Key),
      payUnjudged: signWith('x'.repeat(32)),
    };
  },
};
export default wechatpay;
