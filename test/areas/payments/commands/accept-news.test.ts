import test from 'ava';
import { makeAcceptCallback } from '../../../../src/areas/payments/commands/callbacks/callbacks.js';
import { makeAcceptNews } from '../../../../src/areas/payments/commands/callbacks/news.js';
import { checkoutAggregate } from '../../../../src/areas/payments/domain/checkout/checkout.js';
import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import type { PaymentFact, PaymentNotification } from '../../../../src/areas/payments/domain/fact.js';
import { digest, orderId } from '../../../support/examples/ids.js';
import { settableClock } from '../../../support/fakes/settable-clock.js';
import { makeTestPaymentMaker } from '../../../support/fakes/test-payment-maker.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { aPayment, placeOrderAs } from '../../../support/given/an-order.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const clock = settableClock(at);

/** An order at PayPal with the payment `made-1`, and the commands that accept callbacks and lists. */
async function givenOrder() {
  const { handler } = await givenStores({ clock });
  let commands = 0;
  const context = () => givenContext((commands += 1), at);
  const paymentMakers = new Map([['paypal', makeTestPaymentMaker({ now: () => at })]] as const);
  const acceptCallback = makeAcceptCallback({
    ...{ handler, paymentMakers, clock, onConflict: () => undefined },
    onFailure: (_work, error) => {
      throw error;
    },
  });
  const acceptNews = makeAcceptNews({ handler, acceptCallback });
  await placeOrderAs({ handler }, orderId, context(), { provider: 'paypal' });
  const target = { aggregate: checkoutAggregate, id: orderId } as const;
  const payment = aPayment({ provider: 'paypal' });
  await handler.handle(target, { type: 'RecordPayment', now: at, payment }, context());
  const reportOf = (key: string, fact: PaymentFact, more: Partial<PaymentNotification>) => ({
    ...{ key, isOurs: true, digest },
    notifications: [
      { order_number: orderNumber(orderId), transaction_id: null, fact, at: at.toISOString(), ...more },
    ],
  });
  return {
    listed: (key: string, fact: PaymentFact, more: Partial<PaymentNotification> = {}) =>
      acceptNews('paypal', reportOf(key, fact, more), context()),
    calledBack: (key: string, fact: PaymentFact, more: Partial<PaymentNotification> = {}) =>
      acceptCallback('paypal', reportOf(key, fact, more), at, context()),
    refuseCapture: async () => {
      const { approvals } = (await handler.load(checkoutAggregate, orderId)).state;
      const approval = approvals.at(-1)?.approval ?? '';
      await handler.handle(target, { type: 'RefuseCapture', approval, code: 'DECLINED' }, context());
    },
    approvals: async () => (await handler.load(checkoutAggregate, orderId)).state.approvals.length,
  };
}

test('A listed message that cannot be read is news once, also where it names an order and no transaction', async (t) => {
  const { listed } = await givenOrder();
  const unreadable = { kind: 'unreadable', field: 'resource.amount' } as const;
  t.true(await listed('event-1', unreadable));
  t.false(await listed('event-1', unreadable));
  t.true(await listed('event-2', unreadable, { order_number: null }));
});

test('A listed end that the order knows is no news', async (t) => {
  const { listed, calledBack } = await givenOrder();
  await calledBack('transmission-1', { kind: 'canceled' });
  t.false(await listed('event-1', { kind: 'canceled' }));
  t.true(await listed('event-2', { kind: 'expired' }));
});

test('A listed approval is news where the service made the payment', async (t) => {
  const { listed, approvals } = await givenOrder();
  t.false(await listed('event-1', { kind: 'approved' }, { reference: 'of-the-shop' }));
  t.false(await listed('event-2', { kind: 'approved' }));
  t.false(await listed('event-3', { kind: 'approved' }, { reference: 'made-1', order_number: 'foreign' }));
  t.is(await approvals(), 0);
  t.true(await listed('event-4', { kind: 'approved' }, { reference: 'made-1' }));
  t.is(await approvals(), 1);
});

test('An approval whose capture was refused counts once, by its callback and in the list', async (t) => {
  const { listed, calledBack, refuseCapture, approvals } = await givenOrder();
  const approved = { kind: 'approved' } as const;
  // given an approval that came twice, by two transmissions, and whose capture was refused
  const first = { reference: 'made-1', event: 'WH-1' };
  await calledBack('transmission-1', approved, first);
  await refuseCapture();
  await calledBack('transmission-2', approved, first);
  // when it is listed, then nothing is news
  t.false(await listed('event-WH-1', approved, first));
  t.is(await approvals(), 1);
  // when the buyer has approved again, then that is news once
  const second = { reference: 'made-1', event: 'WH-2' };
  t.true(await listed('event-WH-2', approved, second));
  await refuseCapture();
  await calledBack('transmission-3', approved, second);
  t.false(await listed('event-WH-2', approved, second));
  t.is(await approvals(), 2);
});
