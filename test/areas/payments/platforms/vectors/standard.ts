import {
  parseStandardSecret,
  verifyStandard,
} from '../../../../../src/areas/payments/platforms/standard/standard.js';
import { signStandard } from '../../../../support/clients/sign-callbacks.js';
import { secrets } from '../messages/messages.js';
import { standardMessages } from '../messages/messages-standard.js';
import { meaningOf, ok, type PlatformUnderTest } from './under-test.js';

const standard: PlatformUnderTest = {
  messages: standardMessages,
  repeated: 1,
  digest: '37062e6cc70c896f61d4c983265fcbfc33557e4afbcbb0c81465ffa12f149d99',
  acknowledgement: ok,
  lateMs: 600_000,
  environment: ({ publicKey }) => ({
    PAYMENT_STANDARD_WEBHOOK_SECRETS: `${secrets.standard},${publicKey}`,
  }),
  meaningOf: (callback) => meaningOf(['webhook-id', 'webhook-timestamp'], callback),
  sign: (name) => {
    const secret = `whsec_${Buffer.from(name.padStart(24, '0')).toString('base64')}`;
    const check = parseStandardSecret(secret);
    return {
      verify: verifyStandard({ checks: check === null ? [] : [check] }),
      pay: ({ orderNumber, transaction, amount, currency }, at) => {
        const data = { order_number: orderNumber, transaction_id: transaction, amount, currency };
        const message = { type: 'payment.paid', timestamp: '2026-01-02T03:04:00.000Z', data };
        return signStandard(message, { id: `msg_${transaction}`, secret, at });
      },
    };
  },
};
export default standard;
