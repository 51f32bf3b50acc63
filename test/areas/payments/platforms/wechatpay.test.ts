import { createCipheriv, sign } from 'node:crypto';
import test from 'ava';
import type { WechatPayKeys } from '../../../../src/areas/payments/platforms/wechatpay/wechatpay-client.js';
import { verifyWechatPay } from '../../../../src/areas/payments/platforms/wechatpay/wechatpay-callbacks.js';
import { wechatpayMessages } from './messages/messages-wechatpay.js';
import { arrivesAt, merchant, order, otherOrder, secrets, unreadable } from './messages/messages.js';
import { rsaKeys } from '../../../support/fakes/rsa-keys.js';
import { verifiedBy, providerOf, factsBy, digestCovers } from './vectors/vectors.js';

const pair = rsaKeys('ours');
const serial = 'PUB_KEY_ID_1';
const apiV3Key = Buffer.from(secrets.wechatpayApiV3Key);
const keysOf: WechatPayKeys = (name) =>
  name === serial ? { key: pair.publicKey, validFrom: -Infinity, validTo: Infinity } : null;
const providerWith = (subMchId: string | null) =>
  providerOf(
    'wechatpay',
    verifyWechatPay({ ...merchant.wechatpay, subMchId, apiV3Keys: [apiV3Key], keys: keysOf }),
  );
const wechatpay = providerWith(null);
const [payment] = wechatpayMessages;

function seal(clear: string, key = apiV3Key) {
  const cipher = createCipheriv('aes-256-gcm', key, 'TestOnlyNonc');
  cipher.setAAD(Buffer.from('transaction'));
  const bytes = Buffer.concat([cipher.update(clear), cipher.final(), cipher.getAuthTag()]);
  return {
    algorithm: 'AEAD_AES_256_GCM',
    ciphertext: bytes.toString('base64'),
    nonce: 'TestOnlyNonc',
    associated_data: 'transaction',
  };
}

function callback(body: string | Buffer, time = Math.floor(arrivesAt.getTime() / 1_000)) {
  const content = Buffer.concat([Buffer.from(`${time}\nabc\n`), Buffer.from(body), Buffer.from('\n')]);
  const headers = {
    'wechatpay-timestamp': String(time),
    'wechatpay-nonce': 'abc',
    'wechatpay-signature': sign('sha256', content, pair.privateKey).toString('base64'),
    'wechatpay-serial': serial,
  };
  return { method: 'POST', headers, body: Buffer.from(body), query: '', receivedAt: arrivesAt } as const;
}

const withResource = (resource: unknown) => callback(JSON.stringify({ ...payment?.message, resource }));
const clear = JSON.stringify(payment?.resource);

test('A sealed resource with a changed bit is not accepted', async (t) => {
  const sealed = seal(clear);
  const bytes = Buffer.from(sealed.ciphertext, 'base64');
  t.is((await wechatpay.verify(withResource(sealed))).kind, 'verified');
  // Given a change in each seventh byte, and in each one of the tag
  for (let place = 0; place < bytes.length; place += place < bytes.length - 16 ? 7 : 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(place) ^ (1 << (place % 8)), place);
    const altered = withResource({ ...sealed, ciphertext: changed.toString('base64') });
    t.is((await wechatpay.verify(altered)).kind, 'unavailable', String(place));
  }
  for (const changed of [
    { ...sealed, associated_data: 'refund' },
    { ...sealed, nonce: 'TestOnlyNond' },
    { ...sealed, ciphertext: bytes.subarray(0, -1).toString('base64') },
    { ...sealed, ciphertext: bytes.subarray(-16).toString('base64') },
    seal(clear, Buffer.alloc(32, 1)),
  ]) {
    t.is((await wechatpay.verify(withResource(changed))).kind, 'unavailable');
  }
});

test('A genuine body of WeChat Pay that is unreadable is verified for an operator', async (t) => {
  const sealed = seal(clear);
  const bodies = ['', 'null', '[]', '{', '{}', '{"id":"x"}', Buffer.from([0xff])];
  for (const body of bodies) {
    t.deepEqual(await factsBy(wechatpay, callback(body)), [unreadable('id and event_type')]);
  }
  const resources = [
    undefined,
    null,
    [],
    'x',
    {},
    { ...sealed, algorithm: 'AEAD_SM4_GCM' },
    { ...sealed, nonce: 'short' },
    { ...sealed, nonce: 7 },
    { ...sealed, ciphertext: 'AAAA' },
    { ...sealed, ciphertext: `${sealed.ciphertext} ` },
    { ...sealed, associated_data: [] },
    seal('[]'),
    seal('no JSON'),
    seal(''),
  ];
  for (const resource of resources) {
    const [fact] = await factsBy(wechatpay, withResource(resource));
    t.deepEqual(fact, unreadable('resource'), typeof resource);
  }
});

test('The digest of a message that is sealed again covers only its content', async (t) => {
  const again = {
    ...payment?.message,
    create_time: '2026-01-02T12:00:00+08:00',
    summary: 'x',
    resource: seal(clear.replace('支付成功', 'ok')),
  };
  await digestCovers(t, wechatpay, withResource(seal(clear)), {
    renewed: [callback(JSON.stringify(again))],
    changed: [withResource(seal(clear.replace('"total":6900', '"total":6901')))],
  });
});

test('A combined payment with another order or amount has another digest', async (t) => {
  const combined = wechatpayMessages.find(({ title }) => title.startsWith('one payment combines'));
  const text = JSON.stringify(combined?.resource);
  const changed = [
    text.replace('"total_amount":100', '"total_amount":101'),
    text.replace(otherOrder, order),
  ].map((other) => withResource(seal(other)));
  await digestCovers(t, wechatpay, withResource(seal(text)), { changed });
});

test('A probe is refused like every wrong signature', async (t) => {
  const genuine = callback(JSON.stringify({ ...payment?.message, resource: seal(clear) }));
  const signature = genuine.headers['wechatpay-signature'];
  for (const probe of [
    `WECHATPAY/SIGNTEST/${signature.slice(19)}`,
    `WECHATPAY/SIGNTEST/${signature}`,
    'WECHATPAY/SIGNTEST/',
    Buffer.alloc(0).toString('base64'),
    Buffer.alloc(16).toString('base64'),
    Buffer.alloc(257).toString('base64'),
  ]) {
    const headers = { ...genuine.headers, 'wechatpay-signature': probe };
    t.is((await wechatpay.verify({ ...genuine, headers })).kind, 'refused', probe.slice(0, 30));
  }
});

test('A signature with a time too far off in either direction is refused', async (t) => {
  const now = Math.floor(arrivesAt.getTime() / 1_000);
  const body = JSON.stringify({ ...payment?.message, resource: seal(clear) });
  for (const [offset, kind] of [
    [-301, 'refused'],
    [-300, 'verified'],
    [300, 'verified'],
    [301, 'refused'],
  ] as const) {
    t.is((await wechatpay.verify(callback(body, now + offset))).kind, kind, String(offset));
  }
});

test('A service provider takes the callbacks of its sub-merchant and of no other merchant', async (t) => {
  const { mchId, appId } = merchant.wechatpay;
  const subMchId = '1900000110';
  const partner = providerWith(subMchId);
  const own = JSON.parse(clear) as Readonly<Record<string, unknown>>;
  const ofPartner = {
    ...own,
    mchid: undefined,
    appid: undefined,
    sp_mchid: mchId,
    sp_appid: appId,
    sub_mchid: subMchId,
  };
  const isOurs = async (provider: typeof partner, resource: object) =>
    (await verifiedBy(provider, withResource(seal(JSON.stringify(resource))))).isOurs;
  t.true(await isOurs(partner, ofPartner));
  t.false(await isOurs(partner, { ...ofPartner, sub_mchid: '1900000111' }));
  t.false(await isOurs(partner, { ...ofPartner, sp_mchid: '1900000111' }));
  t.false(await isOurs(partner, { ...ofPartner, sp_appid: 'wx1' }));
  t.false(await isOurs(partner, own), 'a payment of the service provider itself');
  t.false(await isOurs(wechatpay, ofPartner), 'a merchant without the setting');
  t.true(await isOurs(wechatpay, own));
  const sub = {
    mchid: mchId,
    sub_mchid: subMchId,
    out_trade_no: order,
    transaction_id: 't1',
    trade_state: 'SUCCESS',
  };
  const combined = {
    combine_mchid: mchId,
    combine_appid: appId,
    combine_out_trade_no: 'C1',
    sub_orders: [sub],
  };
  t.true(await isOurs(partner, combined));
  t.false(await isOurs(partner, { ...combined, sub_orders: [sub, { ...sub, sub_mchid: '1900000111' }] }));
});
