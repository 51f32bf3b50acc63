import { createHmac, generateKeyPairSync } from 'node:crypto';
import test from 'ava';
import {
  verifyStandard,
  parseStandardSecret,
} from '../../../../src/areas/payments/platforms/standard/standard.js';
import { standardMessages } from './messages/messages-standard.js';
import { arrivesAt, secrets, unreadable } from './messages/messages.js';
import { providerOf, factsBy, digestCovers } from './vectors/vectors.js';

const checks = [parseStandardSecret(secrets.standard)].filter((check) => check !== null);
const standard = providerOf('standard', verifyStandard({ checks }));
const now = String(Math.floor(arrivesAt.getTime() / 1_000));

function callback(body: string | Buffer, { id = 'msg_1', time = now } = {}) {
  const key = Buffer.from(secrets.standard.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${mac}` };
  return { method: 'POST', headers, body: Buffer.from(body), query: '', receivedAt: arrivesAt } as const;
}

test('Parts of a genuine message cannot move over the boundaries of the signed text', async (t) => {
  const genuine = callback(`${now}.{}`, { id: 'msg_1' });
  const moved = [
    { ...genuine, headers: { ...genuine.headers, 'webhook-id': `msg_1.${now}` }, body: Buffer.from('{}') },
    {
      ...genuine,
      headers: { ...genuine.headers, 'webhook-timestamp': `${now}.${now}` },
      body: Buffer.from('{}'),
    },
    { ...genuine, headers: { ...genuine.headers, 'webhook-id': 'msg', 'webhook-timestamp': now } },
  ];
  for (const one of moved) t.is((await standard.verify(one)).kind, 'refused');
  t.is((await standard.verify(genuine)).kind, 'verified');
});

test('A signature counts in any of several headers, which HTTP joins by a comma', async (t) => {
  const message = callback('{"type":"payment.pending"}');
  const good = message.headers['webhook-signature'];
  for (const joined of [`${good}, v1,AAAA`, `v1,AAAA, ${good}`, `v1a,AAAA v1,AAAA,  ${good}`]) {
    const headers = { ...message.headers, 'webhook-signature': joined };
    t.is((await standard.verify({ ...message, headers })).kind, 'verified', joined);
  }
});

test('The digest of a repeated message covers only its content', async (t) => {
  const message = standardMessages[1]?.message ?? {};
  await digestCovers(t, standard, callback(JSON.stringify(message)), {
    renewed: [callback(JSON.stringify(message, null, 2))],
    changed: [callback(JSON.stringify(message).replace('999', '998'))],
  });
});

test('A genuine body of a standard webhook that is unreadable is verified for an operator', async (t) => {
  for (const body of ['', 'null', '[]', '{', '{}', '{"type":""}', '{"type":{}}', Buffer.from([0xc3, 0x28])]) {
    t.deepEqual(await factsBy(standard, callback(body)), [unreadable('type')]);
  }
  const [fact] = await factsBy(standard, callback('{"type":"payment.paid","data":[]}'));
  t.deepEqual(fact, unreadable('data.amount'));
});

test('Half a surrogate pair is in no event: the audit log has no form for it', async (t) => {
  const paid = { kind: 'paid', amount: 999, currency: 'USD' };
  const told = (id: string) =>
    callback(
      `{"type":"payment.paid","data":{"transaction_id":"${id}","amount":999,"currency":"USD","order_number":"1"}}`,
    );
  t.deepEqual(await factsBy(standard, told('tx-\\ud83d\\ude00')), [paid]);
  t.deepEqual(await factsBy(standard, told('tx-\\ud83d')), [unreadable('transaction id')]);
  const verification = await standard.verify(told('tx-\\ud83d'));
  t.true(JSON.stringify(verification).includes('"transaction_id":null'));
});

test('A secret is taken in the forms that consoles show, and one without the length of the standard is refused', (t) => {
  const bytes = (length: number) => Buffer.alloc(length, 1).toString('base64');
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
  for (const good of [
    ...[`whsec_${bytes(24)}`, `whsec_${bytes(64)}`, `whpk_${raw}`, bytes(32)],
    ...[`whsec_${bytes(25).replaceAll('=', '')}`, bytes(32).replace('=', ''), `whpk_${raw.replace('=', '')}`],
  ])
    t.not(parseStandardSecret(good), null, good);
  for (const bad of [
    '',
    'whsec_',
    `whsec_${bytes(23)}`,
    `whsec_${bytes(65)}`,
    `whpk_${bytes(31)}`,
    `whsk_${bytes(32)}`,
    `whsec_whsec_${bytes(32)}`,
    'whsec_!!!!',
  ]) {
    t.is(parseStandardSecret(bad), null, bad);
  }
});
