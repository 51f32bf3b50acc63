import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import test from 'ava';
import {
  verifyAlipay,
  parseAlipayKey,
} from '../../../../src/areas/payments/platforms/alipay/alipay-callbacks.js';
import { alipayMessages } from './messages/messages-alipay.js';
import { arrivesAt, merchant, nothing, unreadable } from './messages/messages.js';
import { rsaKeys } from '../../../support/fakes/rsa-keys.js';
import { readVectors, verifiedBy, providerOf, factsBy, digestCovers } from './vectors/vectors.js';

const pair = rsaKeys('ours');
const alipay = providerOf('alipay', verifyAlipay({ ...merchant.alipay, publicKeys: [pair.publicKey] }));
const fields = { ...alipayMessages[0]?.message } as Readonly<Record<string, string>>;

interface Options {
  readonly method?: 'GET' | 'POST';
  readonly hash?: string;
  readonly key?: KeyObject;
  readonly text?: Buffer;
}

const textOf = (form: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(
    Object.keys(form)
      .filter((name) => name !== 'sign_type')
      .sort()
      .map((name) => `${name}=${form[name] ?? ''}`)
      .join('&'),
  );

function callback(form: Readonly<Record<string, string>>, options: Options = {}) {
  const { method = 'POST', hash = 'sha256', key = pair.privateKey, text = textOf(form) } = options;
  const encoded = new URLSearchParams({ ...form, sign: sign(hash, text, key).toString('base64') }).toString();
  const [query, body] = method === 'GET' ? [encoded, ''] : ['', encoded];
  return { method, headers: {}, body: Buffer.from(body), query, receivedAt: arrivesAt } as const;
}

test('A signature in another charset is checked over the sent bytes', async (t) => {
  // 空间 in GBK; the second byte of 乗 (81 5C) is a character of ASCII.
  const subject = Buffer.from([0xbf, 0xd5, 0xbc, 0xe4, 0x81, 0x5c]);
  const form = { ...fields, charset: 'GBK', subject: 'SUBJECT' };
  const before = textOf(form).toString().split('SUBJECT');
  const text = Buffer.concat([Buffer.from(before[0] ?? ''), subject, Buffer.from(before[1] ?? '')]);
  const signed = callback(form, { text });
  const escaped = [...subject].map((byte) => `%${byte.toString(16)}`).join('');
  const sent = { ...signed, body: Buffer.from(signed.body.toString().replace('SUBJECT', escaped)) };
  const raw = signed.body.toString('latin1').replace('SUBJECT', subject.toString('latin1'));
  for (const genuine of [sent, { ...signed, body: Buffer.from(raw, 'latin1') }])
    t.is((await factsBy(alipay, genuine))[0]?.kind, 'paid');
});

test('A message that chooses another hash is still checked with SHA-256', async (t) => {
  const old = callback({ ...fields, sign_type: 'RSA' }, { hash: 'sha1' });
  t.deepEqual(await alipay.verify(old), { kind: 'refused', reason: 'malformed' });
  for (const hash of ['sha1', 'sha512', 'md5']) {
    t.deepEqual(await alipay.verify(callback(fields, { hash })), {
      kind: 'refused',
      reason: 'wrong_signature',
    });
  }
});

test('A visitor cannot turn the query of a return page into a notification', async (t) => {
  const page = { ...alipayMessages.at(-1)?.message } as Readonly<Record<string, string>>;
  t.deepEqual((await factsBy(alipay, callback(page, { method: 'GET' })))[0], nothing);
  t.is((await alipay.verify(callback(page))).kind, 'refused');
  // All parameters that are signed after `charset` can be merged into its value, and the signature stays valid.
  const [head = '', tail = ''] = textOf(page).toString().split('&method=');
  const merged = Object.fromEntries([...new URLSearchParams(head), ['sign_type', 'RSA2']]) as Record<
    string,
    string
  >;
  merged['charset'] = `utf-8&method=${tail}`;
  t.deepEqual(textOf(merged), textOf(page));
  t.deepEqual(await alipay.verify(callback(merged)), { kind: 'refused', reason: 'malformed' });
});

test('A text that looks like a parameter counts as the text that it is, where it has no other reading', async (t) => {
  for (const subject of [
    'a&out_trade_no=x',
    `a&total_amount=0.01`,
    '&trade_status=TRADE_CLOSED&',
    'x&sign=y&sign_type=RSA',
  ]) {
    const { notifications } = await verifiedBy(alipay, callback({ ...fields, subject }));
    t.like(notifications[0], { order_number: fields['out_trade_no'], fact: { kind: 'paid' } }, subject);
  }
  const hidden = { ...fields, passback_params: 'x&refund_fee=0.01' };
  t.deepEqual(await alipay.verify(callback(hidden)), { kind: 'refused', reason: 'malformed' });
});

test('A notification that is sent as a query changes nothing', async (t) => {
  t.deepEqual(await factsBy(alipay, callback(fields, { method: 'GET' })), [nothing]);
});

test('Unsigned empty values count as absent', async (t) => {
  const form = { ...fields, refund_fee: '', gmt_refund: '', zzz: '' };
  const filled = Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));
  const verified = await verifiedBy(alipay, callback(form, { text: textOf(filled) }));
  t.deepEqual(verified.digest, (await verifiedBy(alipay, callback(fields))).digest);
});

test('The digest of a repeated notification covers its money and not its send time', async (t) => {
  await digestCovers(t, alipay, callback(fields), {
    renewed: [callback({ ...fields, notify_time: '2026-01-02 12:00:00' })],
    changed: [callback({ ...fields, total_amount: '70.00' })],
  });
  const { notifications } = await verifiedBy(alipay, callback(fields));
  t.is(notifications[0]?.at, '2026-01-02T03:03:58.000Z');
});

test('A genuine notification of Alipay with an invalid field is verified for an operator', async (t) => {
  for (const [name, value, field] of [
    ['notify_id', '', 'notify_id'],
    ['notify_id', '容', 'notify_id'],
    ['trade_status', '', 'trade_status'],
    ['trade_no', '', 'transaction id'],
    ['total_amount', '', 'total_amount'],
    ['total_amount', '-69.00', 'total_amount'],
  ] as const) {
    const [fact] = await factsBy(alipay, callback({ ...fields, [name]: value }));
    t.deepEqual(fact, unreadable(field), `${name}=${value}`);
  }
});

test('A genuine notification of Alipay without an id has one key in every spelling', async (t) => {
  const genuine = callback(
    { ...fields, notify_id: '' },
    { text: textOf(Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'notify_id'))) },
  );
  const { key } = await verifiedBy(alipay, genuine);
  const text = genuine.body.toString();
  for (const body of [
    `${text}&zz=`,
    text.split('&').reverse().join('&'),
    text.replace('charset', '%63harset'),
  ]) {
    t.is((await verifiedBy(alipay, { ...genuine, body: Buffer.from(body) })).key, key);
  }
});

test('Keys are read in the forms of the console, and private and weak ones are refused', (t) => {
  const { publicKeys } = readVectors('alipay');
  const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const bare = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const pkcs1 = pair.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const oneLine = [pem.replaceAll('\n', ' '), pem.replaceAll('\n', ''), pem.replaceAll('\n', '\\n'), pkcs1];
  for (const good of [...publicKeys, pem, bare, ` ${bare}\n`, ...oneLine])
    t.not(parseAlipayKey(good), null, good);
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  for (const bad of [
    '',
    'x',
    bare.slice(0, -8),
    pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    weak.export({ type: 'spki', format: 'pem' }).toString(),
    curve.export({ type: 'spki', format: 'pem' }).toString(),
  ]) {
    t.is(parseAlipayKey(bad), null, bad.slice(0, 30));
  }
});

test('An unused field cannot be moved into the value of a used one', async (t) => {
  const genuine: Readonly<Record<string, string>> = {
    ...fields,
    ...{
      auth_app_id: '1',
      notify_time: '2026-01-02 11:04:05',
      point_amount: '0.00',
      subject: '容量',
      version: '1.0',
    },
  };
  t.is((await alipay.verify(callback(genuine))).kind, 'verified');
  const names = Object.keys(genuine)
    .filter((name) => name !== 'sign_type')
    .sort();
  let moved = 0;
  for (const [place, name] of names.entries()) {
    const after = names[place + 1];
    if (after === undefined || !usedByAlipay.includes(name)) continue;
    const merged = Object.fromEntries(Object.entries(genuine).filter(([one]) => one !== after));
    merged[name] = `${genuine[name] ?? ''}&${after}=${genuine[after] ?? ''}`;
    t.deepEqual(textOf(merged), textOf(genuine));
    t.deepEqual(await alipay.verify(callback(merged)), { kind: 'refused', reason: 'malformed' }, name);
    moved += 1;
  }
  t.true(moved >= 5, `${moved} fields`);
});

const usedByAlipay = [
  'app_id',
  'notify_id',
  'out_trade_no',
  'seller_id',
  'trade_status',
  'total_amount',
  'trade_no',
];
