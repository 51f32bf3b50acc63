import test, { type ExecutionContext } from 'ava';
import { paymentCallbackResource } from '../../projections/payments/payment-callbacks/reader.js';
import { ownStreamId, reportKeyOf } from '../../src/areas/payments/domain/payment.js';
import { eventually } from '../support/eventually.js';
import { givenContext } from '../support/given/given-stores.js';
import { outcomeOf } from '../support/given/outcome-of.js';
import { planBytes } from '../support/platforms/paying-services.js';
import { givenPayPalService } from '../support/platforms/paypal-service.js';

async function start(t: ExecutionContext, pageMax?: number) {
  const world = await givenPayPalService(t, { ...(pageMax === undefined ? {} : { pageMax }) });
  const { commands, stores } = world.service.services;
  let calls = 0;
  return {
    ...world,
    reconcile: (after: string | null = null) => {
      const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 2_000), after };
      return commands.reconcilePayments(
        { provider: 'paypal', ...period },
        givenContext((calls += 1), new Date()),
      );
    },
    written: async () => {
      const { events } = await stores.eventStore.readAll({ after: null, limit: 10_000 });
      return events.filter(({ type }) => /^(?:Payment|Refund|Dispute)/.test(type)).length;
    },
  };
}

test('An approval, a refund and a dispute that PayPal’s callbacks did not report are found in its list', async (t) => {
  // given an approved order whose callback was lost, and a paid order with a lost refund
  const { paypal, service, placePaid, deliverUnsent, reconcile, written } = await start(t, 2);
  const [approved, refunded, disputed] = [await placePaid(), await placePaid(), await placePaid()];
  paypal.approve(approved.payment);
  for (const { payment, order } of [refunded, disputed]) {
    t.is(await service.deliver(paypal.approve(payment)), 200);
    await deliverCaptured(order.path);
  }
  await service.services.commands.refundOrder(
    { order_id: refunded.order.id, amount: 300, note: 'the buyer asked' },
    givenContext(700, new Date()),
  );
  const lost = [...paypal.unsent(), paypal.dispute(disputed.payment, 'lost')];

  // when
  const found = await reconcile();
  // then the approved payment is captured, and what was lost counts
  t.like(found, { asked: 7, reported: 3, failed: [], next: null });
  t.like(await service.becomes(refunded.order.path, 'partially_refunded'), { refunded_amount: 300 });
  await service.becomes(disputed.order.path, 'disputed');
  await deliverCaptured(approved.order.path);
  await service.holds(service.granted + 2 * planBytes);

  // when the lost callbacks come after all, and PayPal is asked again, then no order changes
  for (const callback of lost) t.is(await service.deliver(callback), 200);
  const before = await written();
  t.like(await reconcile(), { asked: 8, reported: 0 });
  t.is(await written(), before);
  t.is(paypal.orders.length, 3);

  /** The service captures in the background, and PayPal reports it then. */
  async function deliverCaptured(path: string): Promise<void> {
    await eventually('a capture', async () => (await deliverUnsent()) > 0);
    await service.becomes(path, 'fulfilled');
  }
});

test('A payment whose capture PayPal did not report is found, and counts once', async (t) => {
  const { paypal, service, placePaid, reconcile, written } = await start(t);
  const [{ order, payment }, ended] = [await placePaid(), await placePaid()];
  t.is(await service.deliver(paypal.expire(ended.payment)), 200);
  await service.becomes(ended.order.path, 'canceled');
  t.is(await service.deliver(paypal.approve(payment)), 200);
  const captured: Parameters<typeof service.deliver>[0][] = [];
  await eventually('a capture', () => captured.push(...paypal.unsent()) > 0);
  // when
  t.like(await reconcile(), { asked: 3, reported: 1 });
  // then
  t.like(await service.becomes(order.path, 'fulfilled'), {
    payments: [{ kind: 'paid', amount: 999, transaction_id: payment.captureId }],
  });
  const before = await written();
  t.like(await reconcile(), { asked: 3, reported: 0 });
  t.is(await written(), before);
  // and the callback, which has another key, changes no order
  for (const callback of captured) t.is(await service.deliver(callback), 200);
  const { payments } = await service.read(order.path);
  t.is((payments as readonly unknown[]).length, 1);
});

test('An approval whose capture PayPal refused is not captured again because the list has it', async (t) => {
  const { paypal, service, placePaid, reconcile } = await start(t);
  const { order, payment } = await placePaid();
  payment.refusals.push('INSTRUMENT_DECLINED');
  const events = () => service.services.eventStore.read(`checkout-${order.id}`, { limit: 20 });
  const approval = paypal.approve(payment);
  t.is(await service.deliver(approval), 200);
  await eventually('the refusal', async () => (await events()).some(({ type }) => type === 'CaptureRefused'));
  // when
  t.like(await reconcile(), { asked: 1, reported: 0 });
  // then
  const types = (await events()).map(({ type }) => type);
  t.deepEqual(types, ['PaymentMade', 'PaymentApproved', 'CaptureRefused']);
  // and an operator sees the callback as the contract has it, without the name of the event
  const key = reportKeyOf('paypal', String(approval.headers['paypal-transmission-id']));
  const id = `${ownStreamId('paypal', key)}@0`;
  const found = await service.services.readers.paymentCallbacks.find(id);
  t.is(paymentCallbackResource.safeParse(found).error, undefined);
});

test('A list of PayPal that fails is unavailable, and a place of another list is refused', async (t) => {
  const { paypal, reconcile } = await start(t);
  t.like(await reconcile(), { asked: 0, reported: 0 });
  paypal.will('fails', 'fails');
  t.is(await outcomeOf(reconcile()), 'platform_unavailable');
  t.is(await outcomeOf(reconcile('events/evt_1')), 'invalid_request');
  t.is(await outcomeOf(reconcile('page_size=50')), 'payment_refused');
});
