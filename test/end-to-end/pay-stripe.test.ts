import test from 'ava';
import { givenContext } from '../support/given/given-stores.js';
import { textOf } from '../support/clients/service-client.js';
import { planBytes } from '../support/platforms/paying-services.js';
import { stripeKey, stripeSecret } from '../support/platforms/fake-stripe.js';
import { givenStripeService } from '../support/platforms/stripe-service.js';

test('A buyer pays an order at Stripe with the call of the service, and gets what was bought', async (t) => {
  // Given a service with a key of Stripe's API
  const { stripe, service } = await givenStripeService(t);
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
  await service.holds(service.granted + planBytes);
  const paid = await service.pay(order.path);
  t.deepEqual([paid.status, paid.json()['code']], [409, 'conflict']);

  // When the bank takes the money back, then the grant ends
  t.is(await service.deliver(stripe.dispute(session, 'needs_response')), 200);
  t.is(await service.deliver(stripe.dispute(session, 'lost')), 200);
  await service.becomes(order.path, 'disputed');
  await service.holds(service.granted);

  // and the log of the service has no secret and no address of a payment
  const said = service.lines.join('');
  for (const secret of [stripeKey, stripeSecret, 'checkout.stripe.com']) t.false(said.includes(secret));
});

test('A session that the service did not make goes to review beside the one that it made, and no money is lost', async (t) => {
  // Given an order with a session of the service, and one that a shop paid for without the service
  const { stripe, service, placeWithSession } = await givenStripeService(t);
  const [{ session, ...order }, other] = [await placeWithSession(), await service.place()];
  t.is(await service.deliver(stripe.payBeside({ ...session, number: other.number })), 200);
  await service.becomes(other.path, 'fulfilled');
  await service.holds(service.granted + planBytes);

  // When another session of the order is paid, and then its own one
  const beside = stripe.payBeside(session);
  t.is(await service.deliver(beside), 200);
  await service.becomes(order.path, 'review');
  t.is(await service.capacity(), service.granted + planBytes);
  t.is(await service.deliver(stripe.pay(session)), 200);

  // Then the own one buys the grant, and an operator sees the other
  await service.holds(service.granted + 2 * planBytes);
  const waiting = await service.services.readers.orders.inReview({ limit: 10 });
  t.like(waiting, [{ reason: 'another_payment', provider: 'stripe' }]);
  t.is(waiting.length, 1);
});

test('The payment intent of a session that the service did not make grants nothing, in either order', async (t) => {
  const { stripe, service, placeWithSession } = await givenStripeService(t);
  const last = await placeWithSession();
  const ways = [
    [await placeWithSession(), ['payBeside', 'intentBeside']],
    [await placeWithSession(), ['intentBeside', 'payBeside']],
    [last, ['payBeside', 'dismissal', 'intentBeside']],
  ] as const;
  const { readers, commands } = service.services;

  const dismiss = async ({ id: orderId, path }: typeof last) => {
    await service.becomes(path, 'review');
    const waiting = await readers.orders.inReview({ limit: 10 });
    const id = waiting.find(({ order_id }) => order_id === orderId)?.id ?? '';
    const decision = { id, action: 'dismiss', order_id: null, note: 'the buyer gets it back' } as const;
    await commands.resolvePayment(decision, givenContext(1, new Date(), 'operator'));
    await service.becomes(path, 'created');
  };

  for (const [order, way] of ways) {
    for (const step of way) {
      if (step === 'dismissal') await dismiss(order);
      else t.is(await service.deliver(stripe[step](order.session)), 200);
    }
    await service.becomes(order.path, way.length === 2 ? 'review' : 'created');
  }

  // Then the own session of the last order still buys its grant, and nothing else was granted
  t.is(await service.deliver(stripe.pay(last.session)), 200);
  await service.becomes(last.path, 'fulfilled');
  await service.holds(service.granted + planBytes);
  const waiting = await readers.orders.inReview({ limit: 10 });
  t.deepEqual([...new Set(waiting.map(({ reason }) => reason))], ['another_payment']);
  // Its session and its intent report one payment, which waits once.
  t.is(waiting.length, 2);
});

test('A payment that the bank refuses, and a session that expires, grant nothing', async (t) => {
  const { stripe, service, placeWithSession } = await givenStripeService(t);
  const [refused, expired] = [await placeWithSession(), await placeWithSession()];

  for (const callback of stripe.refuse(refused.session)) t.is(await service.deliver(callback), 200);
  t.is(await service.deliver(stripe.expire(expired.session)), 200);

  await service.becomes(refused.path, 'failed');
  await service.becomes(expired.path, 'expired');
  t.is(await service.capacity(), service.granted);
  for (const { path } of [refused, expired]) t.is((await service.pay(path)).status, 409);
});
