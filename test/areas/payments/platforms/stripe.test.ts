import { createHmac } from 'node:crypto';
import test from 'ava';
import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import { verifyStripe } from '../../../../src/areas/payments/platforms/stripe/stripe.js';
import { stripeMessages } from './messages/messages-stripe.js';
import { arrivesAt, order, secrets, unreadable } from './messages/messages.js';
import { verifiedBy, providerOf, factsBy, digestCovers } from './vectors/vectors.js';
import { pluck } from '../../../support/given/pluck.js';

const stripe = providerOf('stripe', verifyStripe({ secrets: secrets.stripe, livemode: true }));
const now = Math.floor(arrivesAt.getTime() / 1_000);
const messageOf = (title: string) => stripeMessages.find((one) => one.title === title)?.message ?? {};
const session = messageOf('a session is completed and paid');

function callback(body: string | Buffer, header?: string) {
  const bytes = Buffer.from(body);
  const mac = createHmac('sha256', secrets.stripe[0]).update(`${now}.`).update(bytes).digest('hex');
  const headers = { 'stripe-signature': header ?? `t=${now},v1=${mac}` };
  return { method: 'POST', headers, body: bytes, query: '', receivedAt: arrivesAt } as const;
}
const signed = (message: unknown) => callback(JSON.stringify(message));

test('The session and the intent of one payment report the same transaction and money', async (t) => {
  const [bySession] = (await verifiedBy(stripe, signed(session))).notifications;
  const intent = messageOf('the intent of the same payment succeeds');
  const [byIntent] = (await verifiedBy(stripe, signed(intent))).notifications;
  t.like(bySession, { order_number: order, transaction_id: 'pi_3PTestOnly0000000000001' });
  // The session is what the service makes; an intent does not name its session.
  t.deepEqual({ reference: 'cs_live_TestOnly01', ...byIntent, at: null }, { ...bySession, at: null });
});

test('The digest of a repeated event covers its content and not the fields that Stripe renews', async (t) => {
  const text = JSON.stringify(session);
  const changes = [
    ['"amount_total":999', '"amount_total":998'],
    [order, 'x'],
    ['"usd"', '"eur"'],
    ['pi_3P', 'pi_4P'],
  ] as const;
  await digestCovers(t, stripe, signed(session), {
    renewed: [signed({ ...session, pending_webhooks: 0, request: { id: 'req_2' } })],
    changed: changes.map(([from, to]) => callback(text.replace(from, to))),
  });
});

test('A genuine body of Stripe that is unreadable is verified for an operator', async (t) => {
  const bodies = [
    '',
    'null',
    '[]',
    '{',
    '{}',
    '{"id":"evt_1"}',
    '{"id":7,"type":"x","object":"event"}',
    '["x"]',
    Buffer.from([0xff, 0xfe]),
  ];
  const keys = new Set<string>();
  for (const body of bodies) {
    const verified = await verifiedBy(stripe, callback(body));
    t.deepEqual(pluck(verified.notifications, 'fact'), [unreadable('id and type')]);
    t.true(verified.key.length <= 256);
    keys.add(verified.key);
  }
  t.is(keys.size, bodies.length);
  const thin = await verifiedBy(
    stripe,
    signed({ id: 'evt_1', object: 'v2.core.event', type: 'v1.billing.meter.error' }),
  );
  t.deepEqual(thin.notifications[0]?.fact, unreadable('object'));
});

test('Fields of any other type cause no error and no payment', async (t) => {
  for (const odd of [null, [], {}, 7, true, '', 'x'.repeat(10_000), [[]], { id: 'pi_1' }]) {
    const object = Object.fromEntries(
      [
        'payment_intent',
        'amount_total',
        'currency',
        'payment_status',
        'client_reference_id',
        'metadata',
        'id',
      ].map((name) => [name, odd]),
    );
    for (const type of [
      'checkout.session.completed',
      'payment_intent.succeeded',
      'charge.refunded',
      'charge.dispute.created',
    ]) {
      for (const data of [{ object }, { object: odd }, odd]) {
        const verified = await verifiedBy(stripe, signed({ ...session, type, data }));
        t.true(
          verified.notifications.every(({ fact }) => fact.kind === 'unreadable'),
          type,
        );
      }
    }
  }
});

test('A header of thousands of signatures has only sixteen checked', async (t) => {
  const good = callback(JSON.stringify(session)).headers['stripe-signature'];
  const wrong = Array.from({ length: 5_000 }, () => `v1=${'0'.repeat(64)}`).join(',');
  const refused = await stripe.verify(
    callback(JSON.stringify(session), `t=${now},${wrong},${good.split(',')[1] ?? ''}`),
  );
  t.deepEqual(refused, { kind: 'refused', reason: 'wrong_signature' });
});

test('Without a mode the events of both modes count', async (t) => {
  const either = providerOf('stripe', verifyStripe({ secrets: secrets.stripe, livemode: undefined }));
  for (const livemode of [true, false]) {
    t.true((await verifiedBy(either, signed({ ...session, livemode }))).isOurs);
    t.is((await verifiedBy(stripe, signed({ ...session, livemode }))).isOurs, livemode);
  }
});

test('Rare statuses have the meaning that Stripe documents', async (t) => {
  const factOf = async (type: string, object: object) =>
    (await factsBy(stripe, signed({ ...session, type, data: { object } })))[0];
  const intent = { id: 'pi_1', payment_intent: 'pi_1', currency: 'usd' };
  const refund = { ...intent, id: 're_1', amount: 300 };
  for (const [status, expected] of [
    ['pending', 'pending'],
    ['requires_action', 'pending'],
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['canceled', 'failed'],
  ]) {
    t.like(
      await factOf('refund.updated', { ...refund, status }),
      { kind: 'refund', status: expected },
      status,
    );
  }
  for (const [status, expected] of [
    ['warning_needs_response', 'open'],
    ['warning_under_review', 'open'],
    ['under_review', 'open'],
    ['warning_closed', 'won'],
    ['prevented', 'won'],
    ['lost', 'lost'],
  ]) {
    const fact = await factOf('charge.dispute.closed', { ...intent, id: 'du_1', status });
    t.deepEqual(fact, { kind: 'dispute', dispute_id: 'du_1', status: expected } as typeof fact, status);
  }
  // The received amount counts, not the requested one.
  t.deepEqual(await factOf('payment_intent.succeeded', { ...intent, amount: 999, amount_received: 500 }), {
    ...{ kind: 'paid', amount: 500, currency: 'USD' },
  });
});

/** Reads the session with these fields of its object. */
async function readSession(changes: Readonly<Record<string, unknown>>) {
  const { data } = session as { readonly data: { readonly object: Readonly<Record<string, unknown>> } };
  const changed = { ...session, data: { object: { ...data.object, ...changes } } };
  const [told] = (await verifiedBy(stripe, signed(changed))).notifications;
  return told;
}

test('Tax, shipping and a discount change the money that moves and not the price that is compared', async (t) => {
  for (const [amount_subtotal, amount_total, fact] of [
    [999, 1_230, { kind: 'paid', amount: 999, currency: 'USD', charged: 1_230 }],
    [999, 500, { kind: 'paid', amount: 999, currency: 'USD', charged: 500 }],
    [999, 0, { kind: 'paid', amount: 999, currency: 'USD', charged: 0 }],
    [999, 999, { kind: 'paid', amount: 999, currency: 'USD' }],
  ] as const) {
    t.deepEqual((await readSession({ amount_subtotal, amount_total }))?.fact, fact);
  }
  t.deepEqual(
    (await readSession({ amount_subtotal: '999' }))?.fact,
    unreadable('data.object.amount_subtotal'),
  );
});

test('A session of a subscription pays no order, and an operator sees it', async (t) => {
  const subscription = { mode: 'subscription', payment_intent: null, invoice: 'in_1', subscription: 'sub_1' };
  const told = await readSession(subscription);
  t.like(told, { order_number: order, fact: unreadable('data.object.mode') });
  t.is((await readSession({ mode: 'payment' }))?.fact.kind, 'paid');
});

test('A session of a Payment Link is not ours, because a buyer chooses its client_reference_id', async (t) => {
  const isOurs = async (type: string, payment_link: unknown) => {
    const { data } = session as { readonly data: { readonly object: object } };
    const changed = { ...session, type, data: { object: { ...data.object, payment_link } } };
    return (await verifiedBy(stripe, signed(changed))).isOurs;
  };
  for (const type of ['checkout.session.completed', 'checkout.session.expired']) {
    t.false(await isOurs(type, 'plink_1OtherProduct'), type);
    t.true(await isOurs(type, null), type);
  }
});

test('A foreign client_reference_id does not hide the number in the metadata', async (t) => {
  const ours = orderNumber('019b7d00-0000-7000-8000-00000000a001');
  for (const foreign of ['cart-7', '01HZY3T9QK0M5N2P4R6S8V0W1X', 'x']) {
    const told = await readSession({ client_reference_id: foreign, metadata: { order_id: ours } });
    t.is(told?.order_number, ours, foreign);
  }
  t.is((await readSession({ client_reference_id: 'cart-7', metadata: {} }))?.order_number, 'cart-7');
});

test('A dispute names the disputed part of the payment', async (t) => {
  const message = messageOf('a dispute is lost') as { readonly data: { readonly object: object } };
  const part = { ...message, data: { object: { ...message.data.object, amount: 100 } } };
  const [told] = (await verifiedBy(stripe, signed(part))).notifications;
  t.like(told?.fact, { kind: 'dispute', status: 'lost', amount: 100, currency: 'USD' });
});
