import test from 'ava';
import {
  keyDirectoryProblems,
  makePaymentProviders,
  readPaymentSettings,
} from '../../../../src/areas/payments/platforms/configured.js';
import { paymentProvider } from '../../../../src/areas/payments/domain/payment.js';
import { ConfigProblem, readConfig } from '../../../../src/config/config.js';
import { secrets } from './messages/messages.js';
import { asCallback, environmentOfAll, givenKeyDirectory, readVectors } from './vectors/vectors.js';

type Environment = Readonly<Record<string, string | undefined>>;

const read = (environment: Environment) => readPaymentSettings((name) => environment[name]);
const surroundings = { http: () => Promise.reject(new Error('no network here')), report: () => undefined };

/** All settings, with directories of keys that do not exist. */
const everything = (): Promise<Environment> => environmentOfAll(() => '/nowhere');

test('An empty environment configures no platform', (t) => {
  const { settings, problems } = read({});
  t.deepEqual(problems, []);
  t.is(makePaymentProviders(settings, surroundings).size, 0);
});

test('Ids and secrets are taken in the forms that gateways show', (t) => {
  const secret = secrets.standard.replace('whsec_', '');
  const environment = {
    ...{
      PAYMENT_EPAY_ENABLED: 'true',
      PAYMENT_EPAY_PID: `${'0f'.repeat(31)}-1`,
      PAYMENT_EPAY_KEYS: secrets.epay.join(','),
    },
    PAYMENT_STANDARD_WEBHOOK_SECRETS: `v1,whsec_${secret}, ${secret},v1,${secrets.standard}`,
  };
  const { settings, problems } = read(environment);
  t.deepEqual(problems, []);
  t.like(settings.get('standard')?.settings, { checks: { length: 3 } });
});

test('Each configured platform accepts its genuine callbacks by any of its keys', async (t) => {
  const environment = await environmentOfAll((files) => givenKeyDirectory(t, files));
  const { settings, problems } = read(environment);
  t.deepEqual([...problems, ...keyDirectoryProblems(settings)], []);
  const providers = makePaymentProviders(settings, surroundings);
  for (const name of paymentProvider.options) {
    const { vectors, again } = readVectors(name);
    for (const vector of [...vectors, ...again]) {
      const verification = await providers.get(name)?.verify(asCallback(vector));
      t.is(verification?.kind, 'verified', `${name}: ${vector.title}`);
    }
  }
});

test('An incomplete platform has its missing variable named', async (t) => {
  const environment = await everything();
  for (const [name, others] of Object.entries({
    PAYMENT_STRIPE_WEBHOOK_SECRETS: ['stripe'],
    PAYMENT_WECHATPAY_API_V3_KEY: ['wechatpay'],
    PAYMENT_WECHATPAY_MCHID: ['wechatpay'],
    PAYMENT_WECHATPAY_APPID: ['wechatpay'],
    PAYMENT_WECHATPAY_KEYS_DIR: ['wechatpay'],
    PAYMENT_ALIPAY_APP_ID: ['alipay'],
    PAYMENT_ALIPAY_SELLER_ID: ['alipay'],
    PAYMENT_ALIPAY_PUBLIC_KEYS: ['alipay'],
    PAYMENT_PAYPAL_WEBHOOK_ID: ['paypal'],
    PAYMENT_EPAY_PID: ['epay'],
    PAYMENT_EPAY_KEYS: ['epay'],
  })) {
    const { settings, problems } = read({ ...environment, [name]: undefined });
    t.is(problems.length, 1, name);
    t.true(problems[0]?.startsWith(name), name);
    t.deepEqual(
      paymentProvider.options.filter((one) => !settings.has(one)),
      others,
      name,
    );
  }
});

test('Each wrong value is named with its form, and no value is quoted', (t) => {
  const wrong: Environment = {
    PAYMENT_STRIPE_WEBHOOK_SECRETS: `${secrets.stripe[0]},canary-1`,
    PAYMENT_STRIPE_LIVEMODE: 'canary-2',
    PAYMENT_WECHATPAY_API_V3_KEY: 'canary-3',
    PAYMENT_WECHATPAY_MCHID: 'canary-4',
    PAYMENT_WECHATPAY_APPID: 'canary-5',
    PAYMENT_WECHATPAY_SUB_MCHID: 'canary-12',
    PAYMENT_WECHATPAY_KEYS_DIR: '/nowhere',
    PAYMENT_ALIPAY_APP_ID: 'canary-6',
    PAYMENT_ALIPAY_SELLER_ID: 'canary-7',
    PAYMENT_ALIPAY_PUBLIC_KEYS: 'canary-8',
    PAYMENT_PAYPAL_WEBHOOK_ID: 'WEBHOOK_ID',
    PAYMENT_STANDARD_WEBHOOK_SECRETS: 'whsec_canary9',
    PAYMENT_EPAY_ENABLED: 'true',
    PAYMENT_EPAY_PID: 'canary 10',
    PAYMENT_EPAY_KEYS: 'canary-11',
  };
  const named = Object.keys(wrong).filter((name) => !/KEYS_DIR|ENABLED/.test(name));
  const error = t.throws(() => readConfig({ ...wrong, PORT: 'no port' }), { instanceOf: ConfigProblem });
  for (const name of [...named, 'PORT']) t.true(error.message.includes(`  ${name} `), name);
  t.notRegex(error.message, /canary/);
  t.deepEqual(
    read({ PAYMENT_PAYPAL_ENVIRONMENT: 'production', PAYMENT_EPAY_ENABLED: 'yes' }).problems.map(
      (text) => text.split(' ')[0],
    ),
    ['PAYMENT_PAYPAL_WEBHOOK_ID', 'PAYMENT_PAYPAL_ENVIRONMENT', 'PAYMENT_EPAY_ENABLED'],
  );
  t.is(read({ PAYMENT_STRIPE_WEBHOOK_SECRETS: ' , ' }).problems.length, 1);
});

test('Unusable directories of keys are named together with all other problems', async (t) => {
  const environment = await everything();
  const error = t.throws(() => readConfig({ ...environment, PORT: 'no port' }), {
    instanceOf: ConfigProblem,
  });
  for (const name of ['PAYMENT_WECHATPAY_KEYS_DIR', 'PAYMENT_PAYPAL_CERTIFICATES_DIR', 'PORT']) {
    t.true(error.message.includes(name), name);
  }
});

test('Epay is off unless it is enabled, even if its other variables are set', async (t) => {
  for (const PAYMENT_EPAY_ENABLED of [undefined, 'false']) {
    const { settings, problems } = read({ ...(await everything()), PAYMENT_EPAY_ENABLED });
    t.false(settings.has('epay'));
    t.deepEqual(problems, []);
  }
});

test('Secrets of platforms may be in files', (t) => {
  const path = givenKeyDirectory(t, { secrets: `${secrets.stripe.join(',')}\n` });
  const config = readConfig({ PAYMENT_STRIPE_WEBHOOK_SECRETS_FILE: `${path}/secrets` });
  t.deepEqual(config.payments().get('stripe')?.settings, {
    secrets: secrets.stripe,
    livemode: undefined,
    api: null,
  });
  t.throws(() => readConfig({ PAYMENT_STRIPE_WEBHOOK_SECRETS_FILE: `${path}/none` }), {
    instanceOf: ConfigProblem,
  });
});
