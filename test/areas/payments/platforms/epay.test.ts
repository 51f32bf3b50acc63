import { createHash } from 'node:crypto';
import test from 'ava';
import { verifyEpay } from '../../../../src/areas/payments/platforms/epay/epay.js';
import { epayMessages } from './messages/messages-epay.js';
import { arrivesAt, merchant, order, otherOrder, secrets, unreadable } from './messages/messages.js';
import { verifiedBy, providerOf, factsBy, digestCovers } from './vectors/vectors.js';

const epay = providerOf('epay', verifyEpay({ ...merchant.epay, keys: secrets.epay }));
const fields = { ...epayMessages[0]?.message } as Readonly<Record<string, string>>;

/** Builds the signed text like a gateway. */
function textOf(form: Readonly<Record<string, string>>): string {
  return Object.entries(form)
    .filter(([name, value]) => value !== '' && name !== 'sign' && name !== 'sign_type')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}
const signOf = (text: string): string =>
  createHash('md5')
    .update(text + secrets.epay[0])
    .digest('hex');

function callback(form: Readonly<Record<string, string>>, sign = signOf(textOf(form))) {
  const query = new URLSearchParams({ ...form, sign, sign_type: 'MD5' }).toString();
  return { method: 'GET', headers: {}, body: Buffer.alloc(0), query, receivedAt: arrivesAt } as const;
}

test('A buyer who names goods like parameters cannot pay another order', async (t) => {
  // The buyer pays for one order and puts another into the name; the gateway signs both.
  const name = `x&out_trade_no=${otherOrder}&param=`;
  const paid = { ...fields, name };
  const sign = signOf(textOf(paid));
  const resplit = {
    money: '69.00',
    name: 'x',
    out_trade_no: otherOrder,
    param: `&out_trade_no=${order}`,
    pid: fields['pid'] ?? '',
    trade_no: fields['trade_no'] ?? '',
    trade_status: 'TRADE_SUCCESS',
    type: 'alipay',
  };
  // The signature covers both readings, so the reading itself must be refused.
  t.is(textOf(resplit), textOf(paid));
  for (const form of [resplit, paid]) {
    t.deepEqual(await epay.verify(callback(form, sign)), { kind: 'refused', reason: 'malformed' });
  }
  const hidden = { ...fields, type: `alipay&sign_type=MD5` };
  t.is((await epay.verify(callback(hidden))).kind, 'refused');
});

test('A gateway may POST with the parameters in the query, and write its constants in other ways', async (t) => {
  const genuine = callback(fields);
  const { digest } = await verifiedBy(epay, genuine);
  const body = Buffer.from(genuine.query);
  for (const sent of [
    { ...genuine, method: 'POST' as const },
    { ...genuine, method: 'POST' as const, query: '', body },
    { ...genuine, query: genuine.query.replace('sign_type=MD5', 'sign_type=md5') },
    { ...genuine, query: `&&${genuine.query}&` },
  ])
    t.is((await verifiedBy(epay, sent)).digest, digest);
});

test('The bytes that two texts of one MD5 need are refused', async (t) => {
  // Colliding blocks are binary, so control characters and broken UTF-8 are refused even with a valid signature.
  for (const bytes of ['%01', '%7F', '%C2%85', '%ff%fe', '%c3%28', '%ed%a0%80']) {
    const query = `${callback(fields).query.replace('TRADE_SUCCESS', 'TRADE_SUCCESS')}&param=${bytes}`;
    t.deepEqual(
      await epay.verify({ ...callback(fields), query }),
      { kind: 'refused', reason: 'malformed' },
      bytes,
    );
  }
});

test('A genuine notification of epay with an invalid field is verified for an operator', async (t) => {
  for (const [name, value] of [
    ['out_trade_no', ''],
    ['trade_no', ''],
    ['trade_no', '容量'],
    ['money', ''],
    ['money', '-1'],
    ['money', '1,00'],
  ] as const) {
    const [fact] = await factsBy(epay, callback({ ...fields, [name]: value }));
    t.deepEqual(fact, unreadable(name), `${name}=${value}`);
  }
});

test('A genuine notification of epay without an id has one key in every spelling', async (t) => {
  const genuine = callback({ ...fields, trade_no: '' });
  const { key } = await verifiedBy(epay, genuine);
  for (const query of [
    `${genuine.query}&param=`,
    genuine.query.split('&').reverse().join('&'),
    genuine.query.replace('type', '%74ype'),
  ]) {
    t.is((await verifiedBy(epay, { ...genuine, query })).key, key);
  }
});

test('The digest of a repeated trade covers its money and not the name of the goods', async (t) => {
  await digestCovers(t, epay, callback(fields), {
    renewed: [callback({ ...fields, name: 'product', type: 'wxpay' })],
    changed: [callback({ ...fields, money: '70.00' })],
  });
});

test('A payment after another status of its trade is a new message and counts', async (t) => {
  const waits = callback({ ...fields, trade_status: 'WAIT_BUYER_PAY' });
  const waiting = await verifiedBy(epay, waits);
  t.deepEqual(waiting.notifications[0]?.fact, { kind: 'nothing' });
  t.is((await verifiedBy(epay, waits)).key, waiting.key);
  const closed = await verifiedBy(epay, callback({ ...fields, trade_status: 'TRADE_CLOSED' }));
  const payment = await verifiedBy(epay, callback(fields));
  t.is(new Set([waiting, closed, payment].map(({ key }) => key)).size, 3);
});

test('Parameters that a newer gateway signs are part of the text and change nothing', async (t) => {
  const newer = { api_trade_no: 'A1', buyer: 'buyer-7', endtime: '2026-01-02 11:04:00', version: '2' };
  const plain = await verifiedBy(epay, callback(fields));
  const signed = await verifiedBy(epay, callback({ ...fields, ...newer }));
  t.deepEqual({ ...signed }, { ...plain });
  t.deepEqual(
    await epay.verify(callback({ ...fields, ...newer, buyer: 'x' }, signOf(textOf({ ...fields, ...newer })))),
    {
      kind: 'refused',
      reason: 'wrong_signature',
    },
  );
});

test('A further parameter cannot be moved into the value of one that counts, or the other way round', async (t) => {
  const genuine: Readonly<Record<string, string>> = { ...fields, pidx: '7' };
  const { pidx, ...rest } = genuine;
  const merged = { ...rest, pid: `${rest['pid'] ?? ''}&pidx=${pidx ?? ''}` };
  t.is(textOf(merged), textOf(genuine));
  const swallowed = { ...fields, a: `1&money=0.01` };
  for (const form of [merged, swallowed]) {
    t.deepEqual(await epay.verify(callback(form)), { kind: 'refused', reason: 'malformed' });
  }
});
