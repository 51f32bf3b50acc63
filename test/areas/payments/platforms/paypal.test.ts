import { sign } from 'node:crypto';
import { crc32 } from 'node:zlib';
import test from 'ava';
import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import type { FoundCertificates } from '../../../../src/areas/payments/platforms/paypal/paypal-certificates.js';
import { verifyPayPal } from '../../../../src/areas/payments/platforms/paypal/paypal.js';
import { paypalMessages } from './messages/messages-paypal.js';
import { arrivesAt, merchant, order, otherOrder, unreadable } from './messages/messages.js';
import { verifiedBy, providerOf, factsBy } from './vectors/vectors.js';
import { rsaKeys } from '../../../support/fakes/rsa-keys.js';
import { pluck } from '../../../support/given/pluck.js';

const pair = rsaKeys('ours');
const found: FoundCertificates = { kind: 'found', keys: [pair.publicKey] };
const providerWith = (certificates: () => Promise<FoundCertificates>) =>
  providerOf('paypal', verifyPayPal({ ...merchant.paypal, certificates }));
const paypal = providerWith(() => Promise.resolve(found));
const captured = paypalMessages[0]?.message ?? {};
const id = '69cd13f0-d67a-11e5-baa3-778b53f4ae55';

function callback(body: string | Buffer, { time = '2026-01-02T03:04:05Z', crc = crc32(body) } = {}) {
  const content = Buffer.from(`${id}|${time}|${merchant.paypal.webhookId}|${crc}`);
  const headers = {
    'paypal-transmission-id': id,
    'paypal-transmission-time': time,
    'paypal-transmission-sig': sign('sha256', content, pair.privateKey).toString('base64'),
    'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-1',
    'paypal-auth-algo': 'SHA256withRSA',
  };
  return { method: 'POST', headers, body: Buffer.from(body), query: '', receivedAt: arrivesAt } as const;
}

/**
 * Makes another JSON text with a given CRC-32. Each of 64 blanks is a space or a tab. Each choice flips the same bits
 * of the sum independently of the others, so the choices are a system of linear equations.
 */
function forge(text: string, wanted: number): string {
  const blanks = 64;
  const write = (tabs: bigint): string =>
    Array.from({ length: blanks }, (_none, place) => ((tabs >> BigInt(place)) & 1n ? '\t' : ' ')).join('') +
    text;
  const plain = crc32(write(0n));
  const rows: { bits: number; tabs: bigint }[] = [];
  const reduce = (bits: number, tabs: bigint) => {
    for (const row of rows) {
      if ((bits ^ row.bits) >>> 0 < bits >>> 0) [bits, tabs] = [(bits ^ row.bits) >>> 0, tabs ^ row.tabs];
    }
    return { bits, tabs };
  };
  for (let place = 0; place < blanks; place += 1) {
    const row = reduce((crc32(write(1n << BigInt(place))) ^ plain) >>> 0, 1n << BigInt(place));
    if (row.bits !== 0) rows.push(row);
    rows.sort((one, other) => other.bits - one.bits);
  }
  return write(reduce((wanted ^ plain) >>> 0, 0n).tabs);
}

test('Another body with the same CRC-32 under genuine headers is a conflict with the genuine one', async (t) => {
  const body = JSON.stringify(captured);
  const genuine = callback(body);
  const forged = forge(
    body.replace(order, otherOrder).replace('9.99', '0.01').replace('WH-', 'XX-'),
    crc32(body),
  );
  t.is(crc32(forged), crc32(body));
  const [first, second] = [
    await verifiedBy(paypal, genuine),
    await verifiedBy(paypal, { ...genuine, body: Buffer.from(forged) }),
  ];
  // The signature cannot distinguish them. The key can, because it is the transmission's id.
  t.is(second.key, first.key);
  t.not(second.digest, first.digest);
  t.is(second.notifications[0]?.order_number, otherOrder);
  const senseless = await verifiedBy(paypal, {
    ...genuine,
    body: Buffer.from(forge('no JSON', crc32(body))),
  });
  t.is(senseless.key, first.key);
  t.not(senseless.digest, first.digest);
});

test('The digest of a capture is pinned, because it must stay the same, and covers its PayPal order', async (t) => {
  const capture = (order_id: string) => {
    const resource = {
      ...(captured['resource'] as object),
      supplementary_data: { related_ids: { order_id } },
    };
    return verifiedBy(paypal, callback(JSON.stringify({ ...captured, resource })));
  };
  const { digest, notifications } = await capture('5O190127TN364715T');
  t.is(notifications[0]?.reference, '5O190127TN364715T');
  t.is(digest, '70d468bade2240cb51e3a230eff8a59a7d258df675ac8eb5170a066b3e2fbd2a');
  t.not((await capture('5O190127TN364716T')).digest, digest);
});

test('A genuine body of PayPal that is unreadable is verified for an operator', async (t) => {
  for (const body of ['', 'null', '[]', '{', '{}', '{"event_type":7}', Buffer.from([0xff])]) {
    const { notifications, key } = await verifiedBy(paypal, callback(body));
    t.deepEqual(pluck(notifications, 'fact'), [unreadable('event_type')]);
    t.is(key, id);
  }
  for (const resource of [null, [], 'x', 7, {}]) {
    const [fact] = await factsBy(paypal, callback(JSON.stringify({ ...captured, resource })));
    t.deepEqual(fact, unreadable('resource.amount'));
  }
});

test('A callback must come again while its certificate is unavailable, and is refused if the certificate does not exist', async (t) => {
  const body = JSON.stringify(captured);
  const unavailable: FoundCertificates = { kind: 'unavailable', problem: 'no network' };
  const without = providerWith(() => Promise.resolve(unavailable));
  t.deepEqual(await without.verify(callback(body)), unavailable);
  const unknown = providerWith(() => Promise.resolve({ kind: 'unknown' }));
  t.deepEqual(await unknown.verify(callback(body)), { kind: 'refused', reason: 'unknown_key' });
});

test('Malformed headers cause no request for a certificate', async (t) => {
  const strict = providerWith(() => Promise.reject(new Error('asked for a certificate')));
  const genuine = callback(JSON.stringify(captured));
  for (const headers of [
    {},
    { ...genuine.headers, 'paypal-transmission-id': 'x|y' },
    { ...genuine.headers, 'paypal-transmission-time': 'now' },
    { ...genuine.headers, 'paypal-transmission-sig': 'no base64' },
    { ...genuine.headers, 'paypal-auth-algo': 'SHA1withRSA' },
  ]) {
    t.deepEqual(await strict.verify({ ...genuine, headers }), { kind: 'refused', reason: 'malformed' });
  }
});

test('A dispute is won or lost as PayPal says, and amounts have the decimals of their currency', async (t) => {
  const factsOf = (event_type: string, resource_type: string, resource: object) =>
    factsBy(paypal, callback(JSON.stringify({ id: 'WH-1', event_type, resource_type, resource })));
  const about = { dispute_id: 'PP-1', disputed_transactions: [{ seller_transaction_id: 'C1' }] };
  for (const [outcome_code, status] of [
    ['RESOLVED_BUYER_FAVOUR', 'lost'],
    ['ACCEPTED', 'lost'],
    ['RESOLVED_SELLER_FAVOUR', 'won'],
    ['CANCELED_BY_BUYER', 'won'],
    ['DENIED', 'won'],
    ['NONE', 'won'],
  ] as const) {
    const resource = { ...about, status: 'RESOLVED', dispute_outcome: { outcome_code } };
    t.deepEqual(
      await factsOf('CUSTOMER.DISPUTE.RESOLVED', 'dispute', resource),
      [{ kind: 'dispute', dispute_id: 'PP-1', status }],
      outcome_code,
    );
  }
  // PayPal writes forints and Taiwan dollars without decimals. ISO 4217 gives them hundredths.
  for (const [value, currency_code, amount] of [
    ['999', 'JPY', 999],
    ['999', 'HUF', 99_900],
    ['999', 'TWD', 99_900],
    ['9.99', 'USD', 999],
    ['9.990', 'KWD', 9_990],
  ] as const) {
    const resource = { id: 'C1', custom_id: order, amount: { value, currency_code } };
    t.deepEqual(await factsOf('PAYMENT.CAPTURE.COMPLETED', 'capture', resource), [
      { kind: 'paid', amount, currency: currency_code },
    ]);
  }
});

/** Reads an event of the vectors with these fields of its resource. */
async function readResource(title: string, changes: Readonly<Record<string, unknown>>) {
  const { message } = paypalMessages.find((one) => one.title === title) ?? {};
  const { resource } = message as { readonly resource: Readonly<Record<string, unknown>> };
  const body = JSON.stringify({ ...message, resource: { ...resource, ...changes } });
  return (await verifiedBy(paypal, callback(body))).notifications;
}

test('The total of refunds counts only when the refund has succeeded', async (t) => {
  for (const [status, kinds] of [
    ['PENDING', ['refund']],
    ['FAILED', ['refund']],
    ['CANCELLED', ['refund']],
    ['COMPLETED', ['refund', 'refunded-in-total']],
  ] as const) {
    const told = await readResource('PAYMENT.CAPTURE.REFUNDED', { status });
    t.deepEqual(
      told.map(({ fact }) => fact.kind),
      [...kinds],
      status,
    );
  }
});

test('A foreign custom_id does not hide the number in invoice_id', async (t) => {
  const ours = orderNumber('019b7d00-0000-7000-8000-00000000a001');
  const [told] = await readResource('PAYMENT.CAPTURE.COMPLETED', { custom_id: 'cart-7', invoice_id: ours });
  t.is(told?.order_number, ours);
});

test('A dispute about one capture names its amount, and a dispute about several names none', async (t) => {
  const money = (value: string) => ({ value, currency_code: 'USD' });
  const one = {
    disputed_transactions: [{ seller_transaction_id: 'C1', custom: order }],
    dispute_amount: money('5.00'),
  };
  const [opened] = await readResource('CUSTOMER.DISPUTE.CREATED', one);
  t.like(opened?.fact, { status: 'open', amount: 500, currency: 'USD' });
  const outcome = { outcome_code: 'RESOLVED_BUYER_FAVOUR', amount_refunded: money('2.00') };
  const [lost] = await readResource('the buyer is right', { ...one, dispute_outcome: outcome });
  t.like(lost?.fact, { status: 'lost', amount: 200, currency: 'USD' });
  // What the seller won is the disputed money, although nothing of it was refunded.
  const sellers = { outcome_code: 'RESOLVED_SELLER_FAVOUR', amount_refunded: money('0.00') };
  const [won] = await readResource('the seller is right', { ...one, dispute_outcome: sellers });
  t.like(won?.fact, { status: 'won', amount: 500, currency: 'USD' });
  const several = await readResource('CUSTOMER.DISPUTE.CREATED', { dispute_amount: money('5.00') });
  t.deepEqual(
    several.map(({ fact }) => 'amount' in fact),
    [false, false],
  );
});
