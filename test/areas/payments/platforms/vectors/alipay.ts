import { verifyAlipay } from '../../../../../src/areas/payments/platforms/alipay/alipay-callbacks.js';
import { signAlipay } from '../../../../support/clients/sign-callbacks.js';
import { merchant } from '../messages/messages.js';
import { alipayMessages } from '../messages/messages-alipay.js';
import { formMeaning, inDecimals, type PlatformUnderTest, success } from './under-test.js';

const alipay: PlatformUnderTest = {
  messages: alipayMessages,
  digest: 'd6e51823047c86faa0584ebc1415e47108c1b98e742c88e02617a8e761f2173a',
  acknowledgement: success,
  lateMs: null,
  environment: ({ publicKeys }) => ({
    PAYMENT_ALIPAY_APP_ID: merchant.alipay.appId,
    PAYMENT_ALIPAY_SELLER_ID: merchant.alipay.sellerId,
    PAYMENT_ALIPAY_PUBLIC_KEYS: publicKeys.join(','),
  }),
  meaningOf: formMeaning,
  sign: (_name, { publicKey, privateKey }) => ({
    verify: verifyAlipay({ ...merchant.alipay, publicKeys: [publicKey] }),
    pay: ({ orderNumber, transaction, amount }) => {
      const { appId: app_id, sellerId: seller_id } = merchant.alipay;
      const trade = { out_trade_no: orderNumber, trade_no: transaction, trade_status: 'TRADE_SUCCESS' };
      const notification = { notify_id: `n${transaction}`, notify_type: 'trade_status_sync' };
      const ours = { app_id, seller_id, charset: 'utf-8', subject: '容量 & more' };
      return signAlipay(
        { ...notification, ...ours, ...trade, total_amount: inDecimals(amount) },
        { privateKey },
      );
    },
  }),
};
export default alipay;
