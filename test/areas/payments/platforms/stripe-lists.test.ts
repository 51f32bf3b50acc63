import test from 'ava';
import type { Fields } from '../../../../src/areas/payments/platforms/calls/parsing.js';
import { verifyStripe } from '../../../../src/areas/payments/platforms/stripe/stripe.js';
import type { StripeRequest } from '../../../../src/areas/payments/platforms/stripe/stripe-client.js';
import { makeStripeLists } from '../../../../src/areas/payments/platforms/stripe/stripe-lists.js';
import { signStripe } from '../../../support/clients/sign-callbacks.js';
import { providerOf } from './vectors/vectors.js';
import { pluck } from '../../../support/given/pluck.js';

const now = new Date('2026-05-06T07:08:09.000Z');
const created = 1_777_777_777;
const secret = 'whsec_testOnlyTheListsOfStripe012345';
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);

/** Lists of given items by path. */
function given(items: Readonly<Record<string, readonly Fields[]>>, livemode?: boolean) {
  const requests: StripeRequest[] = [];
  const lists = makeStripeLists({
    client: async (request) => {
      requests.push(request);
      return Promise.resolve({ object: 'list', has_more: false, data: items[request.path] ?? [] });
    },
    livemode,
    now: () => now,
  });
  return { ...lists, requests };
}

test('An event of the list is the report of its callback, with the same key and digest', async (t) => {
  const session = {
    ...{ id: 'cs_1', client_reference_id: '01HZTESTONLY00000000000001', payment_intent: 'pi_1' },
    ...{ payment_status: 'paid', mode: 'payment', amount_total: 999, currency: 'usd' },
  };
  const event = {
    ...{ id: 'evt_1', object: 'event', type: 'checkout.session.completed', created, livemode: true },
    data: { object: session },
  };
  const { headers, body } = signStripe(event, { secret, at: now });
  for (const livemode of [undefined, true, false]) {
    const callback = {
      method: 'POST',
      headers,
      body: Buffer.from(body),
      query: '',
      receivedAt: now,
    } as const;
    const verification = await providerOf('stripe', verifyStripe({ secrets: [secret], livemode })).verify(
      callback,
    );
    const { listReports } = given({ '/v1/events': [event] }, livemode);
    const { reports } = await listReports({ from: inDays(-4), to: now }, null);
    t.deepEqual({ kind: 'verified', callback: reports[0] }, verification as never);
    t.is(reports[0]?.isOurs, livemode !== false);
  }
});

test('A listed refund or dispute has its state now, and a session the time at which it was made', async (t) => {
  const money = { payment_intent: 'pi_1', amount: 999, currency: 'usd', created };
  const session = {
    ...{
      id: 'cs_1',
      status: 'complete',
      payment_status: 'paid',
      amount_total: 999,
      currency: 'usd',
      created,
    },
    ...{ payment_intent: 'pi_1', client_reference_id: '01HZTESTONLY00000000000001' },
  };
  const { listReports } = given({
    '/v1/checkout/sessions': [
      { ...session, payment_link: 'plink_1' },
      session,
      { ...session, status: 'open' },
    ],
    '/v1/refunds': [{ id: 're_1', status: 'failed', ...money }],
    '/v1/disputes': [{ id: 'dp_1', status: 'needs_response', ...money }],
  });
  const period = { from: inDays(-60), to: now };
  const found = await Promise.all(
    ['sessions/', 'refunds/', 'disputes/'].map((after) => listReports(period, after)),
  );
  t.deepEqual(
    found.map(({ reports }) => reports.map(({ notifications: [one] }) => [one?.fact.kind, one?.at])),
    [
      Array(2).fill(['paid', new Date(created * 1_000).toISOString()]),
      [['refund', null]],
      [['dispute', null]],
    ],
  );
  // That of a Payment Link is not ours, as in its event.
  t.deepEqual(pluck(found[0]?.reports ?? [], 'isOurs'), [false, true]);
});

test('Stripe is asked for events alone where it has all of the period, and else for each list in turn', async (t) => {
  const recent = given({});
  t.deepEqual(await recent.listReports({ from: inDays(-29.9), to: now }, null), { reports: [], next: null });
  const old = given({});
  const places: (string | null)[] = [null];
  for (let place = places[0]; places.length < 9; places.push(place)) {
    ({ next: place } = await old.listReports({ from: inDays(-30), to: now }, place ?? null));
    if (place === null) break;
  }
  t.deepEqual(places, [null, 'sessions/', 'payment_intents/', 'refunds/', 'disputes/']);
  t.deepEqual(pluck(old.requests, 'path'), [
    '/v1/events',
    '/v1/checkout/sessions',
    '/v1/payment_intents',
    '/v1/refunds',
    '/v1/disputes',
  ]);
  const [request] = recent.requests;
  t.like(Object.fromEntries(request?.form ?? []), {
    'created[gte]': String(inDays(-29.9).getTime() / 1_000),
    'created[lt]': String(now.getTime() / 1_000),
    'types[0]': 'checkout.session.completed',
  });
});

test('A list with an item that is no event, and a page without its end, are unreadable', async (t) => {
  for (const data of [[{}], ['text'], [{ id: 'evt_1' }]]) {
    const { listReports } = given({ '/v1/events': data as unknown as readonly Fields[] });
    await t.throwsAsync(listReports({ from: inDays(-1), to: now }, null), {
      message: /unreadable_reply/,
    });
  }
  const lists = makeStripeLists({
    client: () => Promise.resolve({ has_more: true, data: [] }),
    livemode: undefined,
    now: () => now,
  });
  await t.throwsAsync(lists.listReports({ from: inDays(-1), to: now }, null), {
    message: /unreadable_reply/,
  });
});
