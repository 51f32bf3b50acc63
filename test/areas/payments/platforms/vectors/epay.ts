import { verifyEpay } from '../../../../../src/areas/payments/platforms/epay/epay.js';
import { signEpay } from '../../../../support/clients/sign-callbacks.js';
import { merchant, secrets } from '../messages/messages.js';
import { epayMessages } from '../messages/messages-epay.js';
import { formMeaning, inDecimals, type PlatformUnderTest, success } from './under-test.js';

const { pid } = merchant.epay;

const epay: PlatformUnderTest = {
  messages: epayMessages,
  digest: '07b6059ede13d5cca26ad1517b8ae6f6b5f1ecc4d6a76ed93a47a7bc43a43752',
  acknowledgement: success,
  lateMs: null,
  environment: () => ({
    PAYMENT_EPAY_ENABLED: 'true',
    PAYMENT_EPAY_PID: pid,
    PAYMENT_EPAY_KEYS: secrets.epay.join(','),
  }),
  meaningOf: formMeaning,
  sign: (name) => {
    const key = `TestOnly${name.padStart(24, '0')}`;
    return {
      verify: verifyEpay({ pid, keys: [key] }),
      pay: ({ orderNumber, transaction, amount }) => {
        const trade = { out_trade_no: orderNumber, trade_no: transaction, trade_status: 'TRADE_SUCCESS' };
        const goods = { type: 'alipay', name: '容量 100G', money: inDecimals(amount) };
        return signEpay({ pid, ...trade, ...goods }, { key });
      },
    };
  },
};
export default epay;
