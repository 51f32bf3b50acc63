import {
  type FoundCertificates,
  makeFetchedCertificates,
} from '../../../../../src/areas/payments/platforms/paypal/paypal-certificates.js';
import { verifyPayPal } from '../../../../../src/areas/payments/platforms/paypal/paypal.js';
import { signPayPal } from '../../../../support/clients/sign-callbacks.js';
import { merchant } from '../messages/messages.js';
import { paypalMessages } from '../messages/messages-paypal.js';
import {
  inDecimals,
  meaningOf,
  ok,
  type PlatformUnderTest,
  type SigningPlatform,
  type VectorFile,
} from './under-test.js';

const certificates = 'https://api.paypal.com/v1/notifications/certs';
const { webhookId } = merchant.paypal;

const paypal: PlatformUnderTest = {
  messages: paypalMessages,
  digest: '3f8f86c68337fb125e3da87957f9e9cdc06914fe56f67caa4dec211493bb1b07',
  acknowledgement: ok,
  lateMs: 345_600_000,
  environment: ({ certificates: { signing = '' } }, directoryOf) => ({
    PAYMENT_PAYPAL_WEBHOOK_ID: webhookId,
    PAYMENT_PAYPAL_CERTIFICATES_DIR: directoryOf({ 'paypal.pem': signing }),
  }),
  verify: (file) => verifyPayPal({ webhookId, certificates: signingCertificate(file) }),
  meaningOf: (callback) =>
    meaningOf(
      ['transmission-id', 'transmission-time', 'transmission-sig', 'cert-url', 'auth-algo'].map(
        (one) => `paypal-${one}`,
      ),
      callback,
    ),
  sign: (_name, { publicKey, privateKey }) => {
    const found: FoundCertificates = { kind: 'found', keys: [publicKey] };
    const away: FoundCertificates = { kind: 'unavailable', problem: 'PayPal cannot be reached' };
    const signWith =
      (certificate: string): SigningPlatform['pay'] =>
      ({ orderNumber, transaction, amount, currency }, at) => {
        const capture = {
          ...{ id: transaction, custom_id: orderNumber, status: 'COMPLETED' },
          amount: { value: inDecimals(amount), currency_code: currency },
        };
        const event_type = 'PAYMENT.CAPTURE.COMPLETED';
        const event = { id: `WH-${transaction}`, event_type, resource_type: 'capture', resource: capture };
        const certificateUrl = `${certificates}/${certificate}`;
        const id = `transmission-${transaction}`;
        return signPayPal(event, { id, webhookId, privateKey, certificateUrl, at });
      };
    return {
      verify: verifyPayPal({
        webhookId,
        certificates: (url) => Promise.resolve(url.endsWith('CERT-away') ? away : found),
      }),
      pay: signWith('CERT-here'),
      payUnjudged: signWith('CERT-away'),
    };
  },
};
export default paypal;

/** Makes PayPal's certificates: a client that serves the certificate of the vectors and no other. */
function signingCertificate({ certificates: { signing = '' }, vectors }: VectorFile) {
  const address = vectors[0]?.headers['paypal-cert-url'];
  return makeFetchedCertificates({
    environment: 'live',
    paceMs: 0,
    http: ({ url }) => {
      const body = url === address ? signing : 'none';
      return Promise.resolve({ status: url === address ? 200 : 404, headers: {}, body: Buffer.from(body) });
    },
  });
}
