import test from 'ava';
import { givenContext } from '../support/given/given-stores.js';
import { textOf } from '../support/clients/service-client.js';
import {
  givenPayingService,
  planBytes,
  givenRefunds,
  refundNote,
} from '../support/platforms/paying-services.js';
import { givenStripe, stripeKey, stripeSecret } from '../support/platforms/fake-stripe.js';

const environment = { PAYMENT_STRIPE_WEBHOOK_SECRETS: stripeSecret, PAYMENT_STRIPE_SECRET_KEY: stripeKey };

test('A buyer pays an order at Stripe with the call of the service, and gets what was bought', async (t) => {
  // Given a service with a key of Stripe's API
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, { provider: 'stripe', url: stripe.url, environment });
  const granted = await service.capacity();
  t.like((await service.read('/api/v1/plans'))['platforms'], [
    { provider: 'stripe', ways: [{ kind: 'pay' }, { kind: 'order_number' }] },
  ]);
  const order = await service.place();

  // When the buyer asks twice, then Stripe makes one session, for this order
  const first = await service.pay(order.path, {
    return_url: `${new URL(service.services.config.publicUrl).origin}/thanks`,
  });
  t.is(first.status, 200, first.text);
  t.deepEqual((await service.pay(order.path)).json(), first.json());
  t.is(stripe.sessions.length, 1);
  const [session] = stripe.sessions;
  if (session === undefined) throw new Error('no session');
  t.like(session, { number: order.number, amount: 999, currency: 'usd', status: 'open' });
  t.like(first.json(), { provider: 'stripe', kind: 'redirect' });
  t.is(textOf(first.json(), 'url'), `https://checkout.stripe.com/c/pay/${session.id}#fid`);
  t.is(Date.parse(textOf(first.json(), 'expires_at')), session.expiresAt * 1_000);

  // When the buyer pays there, then Stripe's callback grants what was bought
  t.is(await service.deliver(stripe.pay(session)), 200);
  t.like(await service.becomes(order.path, 'fulfilled'), {
    payments: [{ provider: 'stripe', transaction_id: session.intent, kind: 'paid', amount: 999 }],
  });
  await service.holds(granted + planBytes);
  const paid = await service.pay(order.path);
  t.deepEqual([paid.status, paid.json()['code']], [409, 'conflict']);

  // When the bank takes the money back, then the grant ends
  t.is(await service.deliver(stripe.dispute(session, 'needs_response')), 200);
  t.is(await service.deliver(stripe.dispute(session, 'lost')), 200);
  await service.becomes(order.path, 'disputed');
  await service.holds(granted);

  // and the log of the service has no secret and no address of a payment
  const said = service.lines.join('');
  for (const secret of [stripeKey, stripeSecret, 'checkout.stripe.com']) t.false(said.includes(secret));
});

test('An operator gives back a part of a payment and then the rest, and the grant ends with the rest', async (t) => {
  // Given a paid order
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, {
    ...{ provider: 'stripe', url: stripe.url, environment },
    timeMs: 5_000,
  });
  const granted = await service.capacity();
  const order = await service.place();
  t.is((await service.pay(order.path)).status, 200);
  const [session] = stripe.sessions;
  if (session === undefined) throw new Error('no session');
  t.is(await service.deliver(stripe.pay(session)), 200);
  await service.becomes(order.path, 'fulfilled');
  const { refund, refused } = await givenRefunds(t, service, order.id);

  // When a part goes back, then Stripe's callback confirms it
  stripe.will('is silent', 'fails');
  t.deepEqual(await refused('one', 400), [503, 'platform_unavailable']);
  const first = await refund('one', 400);
  t.is(session.refunded, 400);
  t.like(await service.read(order.path), { status: 'fulfilled', refunded_amount: 0 });
  for (const callback of stripe.refunds()) t.is(await service.deliver(callback), 200);
  t.like(await service.becomes(order.path, 'partially_refunded'), { refunded_amount: 400 });
  t.regex(textOf(first, 'refund_id'), /^re_/);

  // When the rest goes back, then the grant ends
  t.deepEqual(await refused('two', 600), [409, 'conflict']);
  t.like(await refund('three'), { amount: 599, currency: 'USD', transaction_id: session.intent });
  for (const callback of stripe.refunds()) t.is(await service.deliver(callback), 200);
  t.like(await service.becomes(order.path, 'refunded'), { refunded_amount: 999 });
  await service.holds(granted);
  t.false(service.lines.join('').includes(refundNote));
});

test('A session that the service did not make goes to review beside the one that it made, and no money is lost', async (t) => {
  // Given an order with a session of the service, and one that a shop paid for without the service
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, { provider: 'stripe', url: stripe.url, environment });
  const granted = await service.capacity();
  const [order, other] = [await service.place(), await service.place()];
  t.is((await service.pay(order.path)).status, 200);
  const [session] = stripe.sessions;
  if (session === undefined) throw new Error('no session');
  t.is(await service.deliver(stripe.payBeside({ ...session, number: other.number })), 200);
  await service.becomes(other.path, 'fulfilled');
  await service.holds(granted + planBytes);

  // When another session of the order is paid, and then its own one
  const beside = stripe.payBeside(session);
  t.is(await service.deliver(beside), 200);
  await service.becomes(order.path, 'review');
  t.is(await service.capacity(), granted + planBytes);
  t.is(await service.deliver(stripe.pay(session)), 200);

  // Then the own one buys the grant, and an operator sees the other
  await service.holds(granted + 2 * planBytes);
  const waiting = await service.services.readers.orders.inReview({ limit: 10 });
  t.like(waiting, [{ reason: 'another_payment', provider: 'stripe' }]);
  t.is(waiting.length, 1);
});

test('The payment intent of a session that the service did not make grants nothing, in either order', async (t) => {
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, { provider: 'stripe', url: stripe.url, environment });
  const granted = await service.capacity();
  const orders = [await service.place(), await service.place(), await service.place()];
  for (const { path } of orders) t.is((await service.pay(path)).status, 200);
  const ways = [
    ['payBeside', 'intentBeside'],
    ['intentBeside', 'payBeside'],
    ['payBeside', 'dismissal', 'intentBeside'],
  ] as const;
  const { readers, commands } = service.services;

  const dismiss = async ({ id: orderId, path }: (typeof orders)[number]) => {
    await service.becomes(path, 'review');
    const waiting = await readers.orders.inReview({ limit: 10 });
    const id = waiting.find(({ order_id }) => order_id === orderId)?.id ?? '';
    const decision = { id, action: 'dismiss', order_id: null, note: 'the buyer gets it back' } as const;
    await commands.resolvePayment(decision, givenContext(1, new Date(), 'operator'));
    await service.becomes(path, 'created');
  };

  for (const [index, way] of ways.entries()) {
    const [order, session] = [orders[index], stripe.sessions[index]];
    if (order === undefined || session === undefined) throw new Error('no session');
    for (const step of way) {
      if (step === 'dismissal') await dismiss(order);
      else t.is(await service.deliver(stripe[step](session)), 200);
    }
    await service.becomes(order.path, way.length === 2 ? 'review' : 'created');
  }

  // Then the own session of the last order still buys its grant, and nothing else was granted
  const [last, own] = [orders[2], stripe.sessions[2]];
  if (last === undefined || own === undefined) throw new Error('no session');
  t.is(await service.deliver(stripe.pay(own)), 200);
  await service.becomes(last.path, 'fulfilled');
  await service.holds(granted + planBytes);
  const waiting = await readers.orders.inReview({ limit: 10 });
  t.deepEqual([...new Set(waiting.map(({ reason }) => reason))], ['another_payment']);
  t.is(waiting.length, 4);
});

test('A payment that the bank refuses, and a session that expires, grant nothing', async (t) => {
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, { provider: 'stripe', url: stripe.url, environment });
  const granted = await service.capacity();
  const [refused, expired] = [await service.place(), await service.place()];
  t.is((await service.pay(refused.path)).status, 200);
  t.is((await service.pay(expired.path)).status, 200);
  const [one, other] = stripe.sessions;
  if (one === undefined || other === undefined) throw new Error('too few sessions');

  for (const callback of stripe.refuse(one)) t.is(await service.deliver(callback), 200);
  t.is(await service.deliver(stripe.expire(other)), 200);

  await service.becomes(refused.path, 'failed');
  await service.becomes(expired.path, 'expired');
  t.is(await service.capacity(), granted);
  for (const { path } of [refused, expired]) t.is((await service.pay(path)).status, 409);
});

test('While Stripe fails or is silent the call is 503, and the next one makes the one payment', async (t) => {
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, {
    ...{ provider: 'stripe', url: stripe.url, environment },
    timeMs: 2_000,
  });
  const order = await service.place();

  // Given two tries that fail, and two that no reply follows, the latter after Stripe did its work
  stripe.will('fails', 'fails', 'is silent', 'is slow');
  for (const answer of ['fails', 'silent']) {
    const away = await service.pay(order.path);
    t.deepEqual([away.status, away.json()['code']], [503, 'platform_unavailable'], answer);
    t.is(away.headers.get('retry-after'), '10');
  }
  t.is(stripe.sessions.length, 1);

  // When Stripe answers, then the buyer gets the session that was made before
  const made = await service.pay(order.path);
  t.is(made.status, 200, made.text);
  t.is(stripe.sessions.length, 1);
  t.is(new Set(stripe.requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  t.false(service.lines.join('').includes('canary-of-the-message'));
  t.true(service.lines.some((line) => line.includes('stripe did not make a payment: outcome_unknown')));
});

test('A key that Stripe refuses is 503, and the log names the code and not the message', async (t) => {
  const stripe = await givenStripe(t);
  const service = await givenPayingService(t, {
    ...{ provider: 'stripe', url: stripe.url },
    environment: { ...environment, PAYMENT_STRIPE_SECRET_KEY: 'rk_test_TestOnlyAnotherKey0123' },
  });
  const order = await service.place();

  const refused = await service.pay(order.path);

  t.deepEqual([refused.status, refused.json()['code']], [503, 'platform_unavailable']);
  t.true(service.lines.some((line) => line.includes('unavailable, invalid_request_error')));
  t.false(service.lines.join('').includes('canary-of-the-message'));
});
