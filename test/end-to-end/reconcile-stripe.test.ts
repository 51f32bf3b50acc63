import test, { type ExecutionContext } from 'ava';
import { givenContext } from '../support/given/given-stores.js';
import { outcomeOf } from '../support/given/outcome-of.js';
import { planBytes } from '../support/platforms/paying-services.js';
import { givenStripeService } from '../support/platforms/stripe-service.js';

const day = 86_400_000;

/** A service that pays at Stripe. @param pageMax the items of a page of Stripe's lists */
async function start(t: ExecutionContext, pageMax = 100) {
  const { stripe, service, placeWithSession } = await givenStripeService(t, { pageMax });
  const { commands, stores } = service.services;
  let calls = 0;
  const reconcile = ({ days = 1, after = null }: { days?: number; after?: string | null } = {}) => {
    // Stripe's times are whole seconds.
    const [from, to] = [new Date(Date.now() - days * day), new Date(Date.now() + 2_000)];
    const context = givenContext((calls += 1), new Date());
    return commands.reconcilePayments({ provider: 'stripe', from, to, after }, context);
  };
  const reports = async () => {
    const { events } = await stores.eventStore.readAll({ after: null, limit: 10_000 });
    return events.filter(({ type }) => type.startsWith('Payment') || type.startsWith('Dispute')).length;
  };
  return { stripe, service, reconcile, order: placeWithSession, reports };
}

test('What Stripe’s callbacks did not report is found in its list of events, and counts once', async (t) => {
  // given a payment, a dispute, a refund and an end whose callbacks were lost, and a payment whose callback came
  const { stripe, service, reconcile, order, reports } = await start(t, 3);
  const [paid, disputed, refunded, ended] = [await order(), await order(), await order(), await order()];
  const lost = [stripe.pay(paid.session)];
  for (const { session, path } of [disputed, refunded]) {
    t.is(await service.deliver(stripe.pay(session)), 200);
    await service.becomes(path, 'fulfilled');
  }
  lost.push(stripe.dispute(disputed.session, 'needs_response'), stripe.dispute(disputed.session, 'lost'));
  const refund = { order_id: refunded.id, amount: 300, note: 'the buyer asked' };
  await service.services.commands.refundOrder(refund, givenContext(700, new Date()));
  lost.push(...stripe.refunds(), stripe.expire(ended.session));

  // when
  const found = await reconcile();
  // then
  t.deepEqual(found, { asked: 8, reported: 6, failed: [], next: null });
  t.like(await service.becomes(paid.path, 'fulfilled'), {
    payments: [{ kind: 'paid', amount: 999, transaction_id: paid.session.intent }],
  });
  await service.becomes(disputed.path, 'disputed');
  t.like(await service.becomes(refunded.path, 'partially_refunded'), { refunded_amount: 300 });
  await service.becomes(ended.path, 'expired');
  await service.holds(service.granted + 2 * planBytes);

  // when the lost callbacks come after all, and Stripe is asked again, then nothing is written
  const written = await reports();
  for (const callback of lost) t.is(await service.deliver(callback), 200);
  t.deepEqual(await reconcile(), { asked: 8, reported: 0, failed: [], next: null });
  // and neither when the sessions, refunds and disputes tell the same under other keys
  t.deepEqual(await reconcile({ days: 31 }), { asked: 14, reported: 0, failed: [], next: null });
  t.is(await reports(), written);
});

test('For a period whose events are gone, Stripe is asked for sessions, payments, refunds and disputes', async (t) => {
  // given payments by a session and by a shop’s own intent, and what followed, of which no callback came
  const { stripe, service, reconcile, order, reports } = await start(t, 1);
  const [paid, disputed, ended, open, own] = [
    await order(),
    await order(),
    await order(),
    await order(),
    await service.place(),
  ];
  stripe.pay(paid.session);
  stripe.pay(disputed.session);
  stripe.dispute(disputed.session, 'lost');
  stripe.expire(ended.session);
  stripe.payIntent(own.number, 999);
  stripe.payIntent(null, 500);
  stripe.forgetEvents();
  t.like(await reconcile({ days: 29 }), { asked: 0, reported: 0 });

  // when the period begins before the events
  const found = await reconcile({ days: 31 });
  // then each payment counts once, and a shop's payment without a number does not concern the service
  t.deepEqual(found, { asked: 5, reported: 5, failed: [], next: null });
  for (const { path } of [paid, own]) await service.becomes(path, 'fulfilled');
  await service.becomes(disputed.path, 'disputed');
  await service.becomes(ended.path, 'expired');
  t.is((await service.read(open.path))['status'], 'created');
  // when asked again, then nothing is news
  const written = await reports();
  t.deepEqual(await reconcile({ days: 31 }), { asked: 5, reported: 0, failed: [], next: null });
  t.is(await reports(), written);

  // when a refund fails whose success is known, then the later state counts
  const refund = { order_id: paid.id, amount: 100, note: 'the buyer asked' };
  const { refund_id: id } = await service.services.commands.refundOrder(
    refund,
    givenContext(700, new Date()),
  );
  for (const callback of stripe.refunds()) t.is(await service.deliver(callback), 200);
  await service.becomes(paid.path, 'partially_refunded');
  stripe.failRefund(id);
  stripe.forgetEvents();
  t.like(await reconcile({ days: 31 }), { reported: 1 });
  await service.becomes(paid.path, 'fulfilled');
});

test('A payment of the wrong amount that was lost is in review, and a foreign one is listed', async (t) => {
  const { stripe, service, reconcile } = await start(t);
  const order = await service.place();
  stripe.payIntent(order.number, 500);
  stripe.payIntent('not-ours', 700);
  t.like(await reconcile(), { asked: 2, reported: 2 });
  await service.becomes(order.path, 'review');
  const { paymentCallbacks } = service.services.readers;
  t.like(await paymentCallbacks.unmatched({ limit: 10 }), [
    { reason: 'unknown_order', notifications: [{ order_number: 'foreign' }] },
  ]);
});

test('A list of Stripe that fails is unavailable, and a place of another list is refused', async (t) => {
  const { stripe, reconcile } = await start(t);
  stripe.will('fails', 'fails');
  t.is(await outcomeOf(reconcile()), 'platform_unavailable');
  for (const after of ['events', 'no-list/evt_1', 'events/a?b', '019b7d00-0000-7000-8000-00000000a001']) {
    t.is(await outcomeOf(reconcile({ after })), 'invalid_request', after);
  }
  t.is(await outcomeOf(reconcile({ after: 'events/evt_unknown' })), 'payment_refused');
});
