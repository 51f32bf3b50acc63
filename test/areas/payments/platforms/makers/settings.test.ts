import type { KeyObject } from 'node:crypto';
import test from 'ava';
import {
  makePaymentMakers,
  readPaymentSettings,
} from '../../../../../src/areas/payments/platforms/configured.js';
import { environmentOfAll, givenKeyDirectory, readVectors } from '../vectors/vectors.js';
import { merchantKeys, merchantSerial } from './given-makers.js';

type Environment = Readonly<Record<string, string>>;

const read = (environment: Environment) => readPaymentSettings((name) => environment[name]);
const pem = merchantKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const bare = (type: 'pkcs1' | 'pkcs8') =>
  merchantKeys.privateKey.export({ type, format: 'der' }).toString('base64');

/** The settings of callbacks, with directories of keys that do not exist. */
const callbacks = () => environmentOfAll(() => '/keys');
const credentials: Environment = {
  PAYMENT_WECHATPAY_PRIVATE_KEY: pem,
  PAYMENT_WECHATPAY_SERIAL: merchantSerial.toLowerCase(),
  PAYMENT_ALIPAY_PRIVATE_KEY: bare('pkcs8'),
  PAYMENT_PAYPAL_CLIENT_ID: 'TestOnlyClientId0123456789',
  PAYMENT_PAYPAL_CLIENT_SECRET: ' TestOnlySecret-0123456789\n',
  PAYMENT_EPAY_GATEWAY_URL: 'https://pay.example.org/epay/',
};

test('The service makes payments at the platforms that have credentials', async (t) => {
  const received = await environmentOfAll((files) => givenKeyDirectory(t, files));
  const namesWith = (environment: Environment): readonly string[] => {
    const { settings, problems } = read(environment);
    t.deepEqual(problems, []);
    const unused = (): never => {
      throw new Error('no call is made');
    };
    return [
      ...makePaymentMakers(settings, { http: unused, now: unused, sleep: unused, report: unused }).keys(),
    ];
  };
  t.deepEqual(namesWith(received), []);
  t.deepEqual(namesWith({ ...received, ...credentials }), ['wechatpay', 'alipay', 'paypal', 'epay']);
  const { settings } = read({ ...received, ...credentials });
  t.like(settings.get('wechatpay')?.settings, { api: { serial: merchantSerial } });
  t.like(settings.get('paypal')?.settings, { api: { clientSecret: 'TestOnlySecret-0123456789' } });
  t.like(settings.get('epay')?.settings, { api: { gateway: 'https://pay.example.org/epay' } });
});

test('A private key may be PEM, or base64 of PKCS #8 or PKCS #1', async (t) => {
  for (const text of [pem, bare('pkcs8'), bare('pkcs1')]) {
    const { settings } = read({ ...(await callbacks()), PAYMENT_ALIPAY_PRIVATE_KEY: text });
    const { api } = settings.get('alipay')?.settings as { readonly api: { readonly privateKey: KeyObject } };
    t.true(api.privateKey.equals(merchantKeys.privateKey));
  }
});

const wrong: Readonly<Record<string, readonly [Environment, RegExp]>> = {
  'A public key in place of the private one': [
    { PAYMENT_ALIPAY_PRIVATE_KEY: readVectors('alipay').publicKeys[0] ?? '' },
    /^PAYMENT_ALIPAY_PRIVATE_KEY must be an RSA private key/,
  ],
  'A key without its serial number': [
    { PAYMENT_WECHATPAY_PRIVATE_KEY: pem },
    /^PAYMENT_WECHATPAY_SERIAL must be the serial number/,
  ],
  'A serial number without its key': [
    { PAYMENT_WECHATPAY_SERIAL: merchantSerial },
    /^PAYMENT_WECHATPAY_PRIVATE_KEY must be an RSA private key/,
  ],
  'A client id without its secret': [
    { PAYMENT_PAYPAL_CLIENT_ID: 'TestOnlyClientId0123456789' },
    /^PAYMENT_PAYPAL_CLIENT_SECRET must be the secret of the app/,
  ],
  'A secret without its client id': [
    { PAYMENT_PAYPAL_CLIENT_SECRET: 'TestOnlySecret0123456789' },
    /^PAYMENT_PAYPAL_CLIENT_ID must be the client id of the app/,
  ],
  'A secret with a colon': [
    {
      PAYMENT_PAYPAL_CLIENT_ID: 'TestOnlyClientId0123456789',
      PAYMENT_PAYPAL_CLIENT_SECRET: 'TestOnly:0123456789',
    },
    /^PAYMENT_PAYPAL_CLIENT_SECRET must be the secret of the app/,
  ],
  'A gateway without TLS': [
    { PAYMENT_EPAY_GATEWAY_URL: 'http://pay.example.org' },
    /^PAYMENT_EPAY_GATEWAY_URL must be the https address/,
  ],
  'A gateway with a query': [
    { PAYMENT_EPAY_GATEWAY_URL: 'https://pay.example.org/?a=b' },
    /^PAYMENT_EPAY_GATEWAY_URL must be the https address/,
  ],
};
for (const [title, [environment, problem]] of Object.entries(wrong)) {
  test(`${title} is a problem that quotes no value`, async (t) => {
    const { problems } = read({ ...(await callbacks()), ...environment });
    t.is(problems.length, 1);
    t.regex(problems[0] ?? '', problem);
    t.false(Object.values(environment).some((value) => problems[0]?.includes(value) === true));
  });
}

test('Credentials without the settings of callbacks are a problem', (t) => {
  const { problems } = read({ PAYMENT_ALIPAY_PRIVATE_KEY: pem });
  t.deepEqual(
    problems.map((problem) => problem.split(' ')[0]),
    ['PAYMENT_ALIPAY_APP_ID', 'PAYMENT_ALIPAY_SELLER_ID', 'PAYMENT_ALIPAY_PUBLIC_KEYS'],
  );
});
