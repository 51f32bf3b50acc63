// Makes test/areas/payments/platforms/vectors/vectors-<provider>.json: callbacks signed with the platforms' own SDKs, which the project
// does not need otherwise. The SDK of Alipay only checks them. PayPal and epay have no SDK that signs, so
// make-payment-vectors.py signs for them. The run makes its private keys and discards them.
//   npm run build:all
//   npm install --no-save --ignore-scripts stripe@23.1.0 wechatpay-axios-plugin@0.9.6 alipay-sdk@4.14.0 standardwebhooks@1.1.1
//   node scripts/make-payment-vectors.mjs
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { Buffer } from 'node:buffer';
import { URL, URLSearchParams } from 'node:url';
import { alipayMessages } from '../dist/test/areas/payments/platforms/messages/messages-alipay.js';
import { epayMessages } from '../dist/test/areas/payments/platforms/messages/messages-epay.js';
import { paypalMessages } from '../dist/test/areas/payments/platforms/messages/messages-paypal.js';
import { standardMessages } from '../dist/test/areas/payments/platforms/messages/messages-standard.js';
import { stripeMessages } from '../dist/test/areas/payments/platforms/messages/messages-stripe.js';
import { wechatpayMessages } from '../dist/test/areas/payments/platforms/messages/messages-wechatpay.js';
import { arrivesAt, merchant, secrets } from '../dist/test/areas/payments/platforms/messages/messages.js';

// The SDKs may also be in a separate folder: SDK_FOLDER=… contains their node_modules.
const require = createRequire(new URL('package.json', `file://${process.env.SDK_FOLDER ?? process.cwd()}/`));
const Stripe = require('stripe');
const { Aes, Formatter, Rsa } = require('wechatpay-axios-plugin');
const { AlipaySdk } = require('alipay-sdk');
const { Webhook } = require('standardwebhooks');

const now = Math.floor(arrivesAt.getTime() / 1000);

function python(task) {
  const script = new URL('make-payment-vectors.py', import.meta.url).pathname;
  return JSON.parse(execFileSync('python3', [script], { input: JSON.stringify(task), encoding: 'utf8' }));
}

function vector(title, callback) {
  return { title, method: 'POST', headers: {}, body: '', query: '', ...callback };
}

function stripe() {
  const sdk = new Stripe('sk_test_TestOnly');
  const [secret, otherSecret] = secrets.stripe;
  const header = (payload, options) =>
    sdk.webhooks.generateTestHeaderString({ payload, secret, timestamp: now, ...options });
  const bodyOf = ({ message }) => JSON.stringify(message, null, 2);
  const signed = (title, one, options) =>
    vector(title, { headers: { 'stripe-signature': header(bodyOf(one), options) }, body: bodyOf(one) });
  const [first] = stripeMessages;
  const body = bodyOf(first);
  const second = header(body, { secret: otherSecret }).replace(/^t=\d+,/, '');
  const wrong = `v1=${'0'.repeat(64)}`;
  const spelled = (title, text) => vector(title, { headers: { 'stripe-signature': text }, body });
  return {
    vectors: stripeMessages.map((one) => signed(one.title, one)),
    again: [
      signed('by the other secret', first, { secret: otherSecret }),
      signed('299 s ago', first, { timestamp: now - 299 }),
      signed('in 299 s', first, { timestamp: now + 299 }),
      spelled('two secrets while one is rolled', `${header(body)},${second}`),
      spelled('after a wrong one, with an old scheme', `t=${now},v0=${'0'.repeat(64)},${wrong},${second}`),
    ],
    negatives: [
      ['wrong_signature', signed('a stranger’s secret', first, { secret: 'whsec_ATestOnlyStrangersSecret' })],
      ['wrong_signature', signed('the secret without its prefix', first, { secret: secret.slice(6) })],
      ['out_of_time', signed('301 s ago', first, { timestamp: now - 301 })],
      ['out_of_time', signed('in 301 s', first, { timestamp: now + 301 })],
      ['malformed', signed('v0 only', first, { scheme: 'v0' })],
      ['malformed', spelled('cut off', header(body).slice(0, -1))],
      [
        'malformed',
        spelled(
          'in upper case',
          header(body).replace(/v1=.*/, (text) => text.toUpperCase().replace('V1', 'v1')),
        ),
      ],
      ['malformed', spelled('two times', `t=${now},${header(body)}`)],
      ['malformed', spelled('no time', header(body).replace(/^t=\d+,/, ''))],
      ['wrong_signature', spelled('another time', header(body).replace(/^t=\d+/, `t=${now + 1}`))],
    ],
  };
}

function wechatpay() {
  const { made } = python({
    task: 'certificates',
    certificates: [
      { common_name: 'Tenpay.com TEST ONLY' },
      { common_name: 'Tenpay.com TEST ONLY expired', end: '2026-01-01' },
      { common_name: 'stranger TEST ONLY' },
    ],
  });
  const [platform, expired, stranger] = made.map(({ privateKey, certificate }) => ({
    privateKey,
    certificate,
    serial: new X509Certificate(certificate).serialNumber,
  }));
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicKeyId = 'PUB_KEY_ID_0119000001092026010200000000000001';
  const byPublicKey = { privateKey: pair.privateKey, serial: publicKeyId };
  const bodyOf = ({ message, resource }, { key = secrets.wechatpayApiV3Key, aad = 'transaction' } = {}) => {
    const nonce = Formatter.nonce(12);
    const ciphertext = Aes.AesGcm.encrypt(JSON.stringify(resource), key, nonce, aad);
    const sealed = {
      original_type: 'transaction',
      algorithm: 'AEAD_AES_256_GCM',
      ciphertext,
      associated_data: aad,
      nonce,
    };
    return JSON.stringify({ ...message, resource: sealed });
  };
  const signed = (title, body, { by = platform, timestamp = now, headers = {} } = {}) => {
    const nonce = Formatter.nonce();
    return vector(title, {
      headers: {
        'wechatpay-timestamp': String(timestamp),
        'wechatpay-nonce': nonce,
        'wechatpay-signature': Rsa.sign(Formatter.response(String(timestamp), nonce, body), by.privateKey),
        'wechatpay-serial': by.serial,
        'wechatpay-signature-type': 'WECHATPAY2-SHA256-RSA2048',
        ...headers,
      },
      body,
    });
  };
  const [first] = wechatpayMessages;
  const probe = (text) => `WECHATPAY/SIGNTEST/${text.slice('WECHATPAY/SIGNTEST/'.length)}`;
  const genuine = signed('', bodyOf(first));
  const withHeaders = (title, headers) => ({
    ...genuine,
    title,
    headers: { ...genuine.headers, ...headers },
  });
  return {
    keys: {
      'wechatpay_certificate.pem': platform.certificate,
      'old.pem': expired.certificate,
      [`${publicKeyId}.pem`]: pair.publicKey.export({ type: 'spki', format: 'pem' }),
    },
    vectors: wechatpayMessages.map((one) => signed(one.title, bodyOf(one))),
    again: [
      signed('by the public key', bodyOf(first), { by: byPublicKey }),
      signed('no associated data', bodyOf(first, { aad: '' })),
      signed('299 s ago', bodyOf(first), { timestamp: now - 299 }),
      signed('in 299 s', bodyOf(first), { timestamp: now + 299 }),
    ],
    unavailable: [
      signed('sealed under another key', bodyOf(first, { key: 'AnotherTestOnlyApiV3Key123456789' })),
    ],
    negatives: [
      [
        'wrong_signature',
        withHeaders('a probe', { 'wechatpay-signature': probe(genuine.headers['wechatpay-signature']) }),
      ],
      [
        'wrong_signature',
        withHeaders('a short signature', { 'wechatpay-signature': Buffer.alloc(255, 1).toString('base64') }),
      ],
      [
        'wrong_signature',
        withHeaders('a long signature', { 'wechatpay-signature': Buffer.alloc(512, 1).toString('base64') }),
      ],
      [
        'wrong_signature',
        signed('a stranger under a known serial', bodyOf(first), {
          by: { ...stranger, serial: platform.serial },
        }),
      ],
      ['wrong_signature', withHeaders('the other key', { 'wechatpay-serial': publicKeyId })],
      ['unknown_key', signed('a stranger', bodyOf(first), { by: stranger })],
      ['unknown_key', signed('an expired certificate', bodyOf(first), { by: expired })],
      ['unknown_key', withHeaders('a serial with a prefix', { 'wechatpay-serial': `0x${platform.serial}` })],
      ['unknown_key', withHeaders('a serial that objects inherit', { 'wechatpay-serial': '__proto__' })],
      ['out_of_time', signed('301 s ago', bodyOf(first), { timestamp: now - 301 })],
      ['out_of_time', signed('in 301 s', bodyOf(first), { timestamp: now + 301 })],
      [
        'malformed',
        withHeaders('another algorithm', { 'wechatpay-signature-type': 'WECHATPAY2-SM2-WITH-SM3' }),
      ],
      ['malformed', withHeaders('a nonce with a line feed', { 'wechatpay-nonce': 'a\nb' })],
    ],
  };
}

function alipay() {
  const { made } = python({
    task: 'certificates',
    certificates: [
      { common_name: 'alipay TEST ONLY' },
      { common_name: 'alipay TEST ONLY next' },
      { common_name: 'stranger TEST ONLY' },
    ],
  });
  const [current, next, stranger] = made;
  const bareKey = ({ privateKey }) =>
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
  const sdkOf = (one) =>
    new AlipaySdk({
      appId: merchant.alipay.appId,
      privateKey: current.privateKey,
      keyType: 'PKCS8',
      alipayPublicKey: bareKey(one),
    });
  const text = (message, names) =>
    names
      .sort()
      .map((name) => `${name}=${message[name]}`)
      .join('&');
  const named = (message, without = ['sign', 'sign_type']) =>
    Object.keys(message).filter((name) => !without.includes(name));
  const formOf = (message, { by = current, names = named(message), hash = 'sha256' } = {}) => {
    const signature = sign(hash, Buffer.from(text(message, names)), by.privateKey).toString('base64');
    return { ...message, sign: signature };
  };
  const signed = (title, { message, method = 'POST' }, options) => {
    const form = formOf(message, options);
    const encoded = new URLSearchParams(form).toString();
    if (options?.check !== false && !sdkOf(options?.by ?? current).checkNotifySignV2(form))
      throw new Error(`the SDK refuses: ${title}`);
    return vector(title, { method, ...(method === 'GET' ? { query: encoded } : { body: encoded }) });
  };
  const [first] = alipayMessages;
  const withEmpty = { ...first, message: { ...first.message, body: '' } };
  const genuine = signed('', first).body;
  const spelled = (title, body) => vector(title, { body });
  const changed = (title, name, value) => {
    const form = new URLSearchParams(genuine);
    form.set(name, value);
    return spelled(title, form.toString());
  };
  return {
    publicKeys: [bareKey(current), next.certificate],
    vectors: alipayMessages.map((one) => signed(one.title, one)),
    again: [
      signed('by the next key', first, { by: next }),
      signed('with sign_type signed', first, { names: named(first.message, ['sign']) }),
      signed('empty values not signed', withEmpty, { names: named(first.message), check: false }),
      spelled(
        'spaces as %20, lower-case escapes',
        genuine.replaceAll('+', '%20').replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
      ),
      spelled('in another order', genuine.split('&').reverse().join('&')),
      spelled(
        'its plus signs lost',
        genuine.replace(/(?<=(^|&)sign=)[^&]*/, (text) => text.replaceAll('%2B', '+')),
      ),
    ],
    negatives: [
      ['wrong_signature', signed('a stranger’s key', first, { by: stranger })],
      [
        'malformed',
        signed('SHA-1, by sign_type', { message: { ...first.message, sign_type: 'RSA' } }, { hash: 'sha1' }),
      ],
      ['wrong_signature', signed('SHA-1, under RSA2', first, { hash: 'sha1', check: false })],
      ['wrong_signature', changed('another amount', 'total_amount', '0.01')],
      ['wrong_signature', changed('another order', 'out_trade_no', 'X')],
      ['wrong_signature', changed('one parameter more', 'zzz', 'x')],
      ['malformed', spelled('a repeated parameter', `${genuine}&total_amount=0.01`)],
      ['malformed', spelled('a broken escape', genuine.replace('%25', '%2'))],
      ['malformed', spelled('no signature', genuine.replace(/(^|&)sign=[^&]*/, ''))],
      ['malformed', spelled('JSON', JSON.stringify(first.message))],
      [
        'wrong_signature',
        vector('a return page as a notification', { body: signed('', alipayMessages.at(-1)).query }),
      ],
    ],
  };
}

function paypal() {
  const { webhookId } = merchant.paypal;
  const certificates = {
    signing: { common_name: 'messageverificationcerts.paypal.com' },
    stranger: { common_name: 'messageverificationcerts.paypal.com' },
    sandbox: { common_name: 'messageverificationcerts.sandbox.paypal.com' },
    foreign: { common_name: 'messageverificationcerts.paypal.com.example.org' },
    expired: { common_name: 'messageverificationcerts.paypal.com', end: '2026-01-01' },
    early: { common_name: 'messageverificationcerts.paypal.com', start: '2026-01-03' },
  };
  const time = (ms) => new Date(arrivesAt.getTime() + ms).toISOString().replace('.000Z', 'Z');
  const day = 86_400_000;
  const [first] = paypalMessages;
  const messages = [];
  const add = (title, { message, key }, options = {}) => {
    const made = {
      title,
      id: key,
      time: time(0),
      webhookId,
      key: 'signing',
      hash: 'sha256',
      body: JSON.stringify(message),
      headers: {},
      ...options,
    };
    messages.push(made);
    return messages.length - 1;
  };
  const vectors = paypalMessages.map((one) => add(one.title, one));
  const again = [
    add('almost four days ago', first, { time: time(1000 - 4 * day) }),
    add('with milliseconds', first, { time: '2026-01-02T03:04:05.123Z' }),
  ];
  const negatives = [
    ['wrong_signature', add('another webhook', first, { webhookId: '8AB12345CD678901E' })],
    ['wrong_signature', add('the simulator', first, { webhookId: 'WEBHOOK_ID' })],
    ['wrong_signature', add('a stranger', first, { key: 'stranger' })],
    ['wrong_signature', add('SHA-1', first, { hash: 'sha1' })],
    [
      'malformed',
      add('SHA-1, as it says', first, { hash: 'sha1', headers: { 'paypal-auth-algo': 'SHA1withRSA' } }),
    ],
    ['out_of_time', add('more than four days ago', first, { time: time(-1000 - 4 * day) })],
    ['out_of_time', add('in six minutes', first, { time: time(360_000) })],
    ['malformed', add('a time without a zone', first, { time: '2026-01-02T03:04:05' })],
    ['malformed', add('a separator in the id', first, { id: '69cd13f0|2026' })],
  ];
  const made = python({ task: 'paypal', certificates, messages });
  const at = (index) => {
    const { title, id, time: sentAt, body, headers } = messages[index];
    return vector(title, {
      headers: {
        'paypal-transmission-id': id,
        'paypal-transmission-time': sentAt,
        'paypal-transmission-sig': made.signatures[index],
        'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77',
        'paypal-auth-algo': 'SHA256withRSA',
        ...headers,
      },
      body,
    });
  };
  return {
    certificates: made.certificates,
    vectors: vectors.map(at),
    again: again.map(at),
    negatives: negatives.map(([reason, index]) => [reason, at(index)]),
  };
}

function standard() {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = `whpk_${pair.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`;
  const bodyOf = ({ message }) => JSON.stringify(message);
  const headersOf = (key, timestamp, signature) => ({
    'webhook-id': key,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });
  const signed = (title, one, { secret = secrets.standard, timestamp = now } = {}) => {
    const signature = new Webhook(secret).sign(one.key, new Date(timestamp * 1000), bodyOf(one));
    return vector(title, { headers: headersOf(one.key, timestamp, signature), body: bodyOf(one) });
  };
  const [, first] = standardMessages;
  const ed25519 = (key = first.key) =>
    `v1a,${sign(null, Buffer.from(`${key}.${now}.${bodyOf(first)}`), pair.privateKey).toString('base64')}`;
  const genuine = signed('', first);
  const good = genuine.headers['webhook-signature'];
  const spelled = (title, signature) =>
    vector(title, { headers: headersOf(first.key, now, signature), body: bodyOf(first) });
  return {
    publicKey,
    vectors: standardMessages.map((one) => signed(one.title, one)),
    again: [
      spelled('by Ed25519', ed25519()),
      spelled('after a wrong one', `v1,${Buffer.alloc(32).toString('base64')} ${good}`),
      spelled('after an unknown version', `v2,abc ${good}`),
      signed('299 s ago', first, { timestamp: now - 299 }),
      signed('in 299 s', first, { timestamp: now + 299 }),
    ],
    negatives: [
      [
        'wrong_signature',
        signed('a stranger’s secret', first, {
          secret: `whsec_${Buffer.from('a stranger of the tests, no more').toString('base64')}`,
        }),
      ],
      ['wrong_signature', spelled('no version', good.slice(3))],
      ['wrong_signature', spelled('an HMAC as Ed25519', good.replace('v1,', 'v1a,'))],
      ['wrong_signature', spelled('cut off', good.slice(0, -4))],
      ['wrong_signature', spelled('another message, by Ed25519', ed25519('msg_other'))],
      ['out_of_time', signed('301 s ago', first, { timestamp: now - 301 })],
      ['out_of_time', signed('in 301 s', first, { timestamp: now + 301 })],
      ['malformed', signed('a dot in the id', { ...first, key: 'msg.1' })],
      ['malformed', vector('no headers', { body: bodyOf(first) })],
    ],
  };
}

function epay() {
  const [key, otherKey] = secrets.epay;
  const [first, byPost] = epayMessages;
  const { forms } = python({
    task: 'epay',
    messages: [
      ...epayMessages.map(({ message }) => ({ message, key })),
      { message: first.message, key: otherKey },
      { message: first.message, key: 'TestOnlyAStrangersKey00000000000' },
      { message: { ...first.message, name: `x&out_trade_no=${'0'.repeat(26)}&pid=1001` }, key },
      { message: { ...first.message, extra: 'x' }, key },
      { message: { ...first.message, name: 'x\u0001y' }, key },
      { message: first.message, key: `&key=${key}` },
    ],
  });
  const callback = (title, { method }, form) =>
    vector(title, { method, ...(method === 'GET' ? { query: form } : { body: form }) });
  const more = forms.slice(epayMessages.length);
  const [genuine] = forms;
  const spelled = (title, form) => callback(title, first, form);
  return {
    vectors: epayMessages.map((one, index) => callback(one.title, one, forms[index])),
    again: [
      spelled('by the other key', more[0]),
      callback('a GET sent by POST', byPost, genuine),
      spelled('without sign_type', genuine.replace('&sign_type=MD5', '')),
      spelled('in another order', genuine.split('&').reverse().join('&')),
      spelled('with a further parameter', more[3]),
      spelled(
        'with the signature in upper case',
        genuine.replace(/sign=[0-9a-f]+/, (text) => `sign=${text.slice(5).toUpperCase()}`),
      ),
    ],
    negatives: [
      ['wrong_signature', spelled('a stranger’s key', more[1])],
      ['malformed', spelled('parameters in a name', more[2])],
      ['malformed', spelled('a control character', more[4])],
      ['wrong_signature', spelled('the key as a parameter', more[5])],
      ['malformed', spelled('RSA', genuine.replace('sign_type=MD5', 'sign_type=RSA'))],
      ['malformed', spelled('a repeated parameter', `${genuine}&money=0.01`)],
      ['wrong_signature', spelled('another amount', genuine.replace('money=69.00', 'money=0.01'))],
      ['malformed', spelled('nothing', '')],
    ],
  };
}

for (const [provider, make] of Object.entries({ stripe, wechatpay, alipay, paypal, standard, epay })) {
  const { negatives, again, ...rest } = make();
  const made = { ...rest, again, negatives: negatives.map(([reason, one]) => ({ reason, ...one })) };
  const file = new URL(`../test/areas/payments/platforms/vectors/vectors-${provider}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`);
  console.log(provider, made.vectors.length, again.length, negatives.length);
}
