import test from 'ava';
import { pluck } from '../support/given/pluck.js';
import { type AnyReaction, eventFor } from '../../src/event-sourcing/effects/reaction.js';
import { eventually } from '../support/eventually.js';
import { givenContext } from '../support/given/given-stores.js';
import { textOf } from '../support/clients/service-client.js';
import { paypalApp } from '../support/platforms/fake-paypal.js';
import { planBytes } from '../support/platforms/paying-services.js';
import { givenPayPalService } from '../support/platforms/paypal-service.js';

test('A buyer approves an order at PayPal, the service captures it, and its callback grants what was bought', async (t) => {
  // Given a service with credentials of PayPal's API
  const { paypal, service, deliverUnsent } = await givenPayPalService(t);
  t.like((await service.read('/api/v1/plans'))['platforms'], [
    {
      provider: 'paypal',
      ways: [{ kind: 'pay' }, { kind: 'order_number', fields: ['custom_id', 'invoice_id'] }],
    },
  ]);
  const order = await service.place();

  // When the buyer asks twice, then PayPal makes one order, for this number and price
  const back = `${new URL(service.services.config.publicUrl).origin}/thanks`;
  const first = await service.pay(order.path, { return_url: back });
  t.is(first.status, 200, first.text);
  t.deepEqual((await service.pay(order.path)).json(), first.json());
  const [payment] = paypal.orders;
  if (payment === undefined) throw new Error('no order');
  t.is(paypal.orders.length, 1);
  t.like(payment, { number: order.number, value: '9.99', currency: 'USD' });
  t.like(first.json(), { provider: 'paypal', kind: 'redirect' });
  t.is(textOf(first.json(), 'url'), `https://www.paypal.com/checkoutnow?token=${payment.id}`);
  t.is(paypal.requests.filter(({ body }) => body.includes(`"return_url":"${back}"`)).length, 1);

  // When the buyer approves it, then the service takes the money, and the order changes by the callback alone
  const approved = paypal.approve(payment);
  t.is(await service.deliver(approved), 200);
  t.is(await service.deliver(approved), 200);
  await eventually('the capture', () => payment.status === 'COMPLETED');
  t.is((await service.read(order.path))['status'], 'created');
  t.is(await deliverUnsent(), 1);
  t.like(await service.becomes(order.path, 'fulfilled'), {
    payments: [{ provider: 'paypal', transaction_id: payment.captureId, kind: 'paid', amount: 999 }],
  });
  await service.holds(service.granted + planBytes);
  t.is(paypal.requests.filter(({ path }) => path.endsWith('/capture')).length, 1);
  t.is(paypal.tokens.length, 1);

  // When the buyer disputes it and wins, then the grant ends
  t.is(await service.deliver(paypal.dispute(payment, 'open')), 200);
  t.is(await service.deliver(paypal.dispute(payment, 'lost')), 200);
  await service.becomes(order.path, 'disputed');
  await service.holds(service.granted);

  // and the log of the service has no secret, no token and no address of a payment
  const said = service.lines.join('');
  for (const secret of [paypalApp.clientSecret, ...paypal.tokens, 'checkoutnow', 'personal-canary'])
    t.false(said.includes(secret));
});

test('A declined means of payment takes no money, and the next approval pays the order', async (t) => {
  const { paypal, service, placePaid, deliverUnsent } = await givenPayPalService(t);
  const { order, payment } = await placePaid();
  payment.refusals.push('INSTRUMENT_DECLINED');

  t.is(await service.deliver(paypal.approve(payment)), 200);
  await eventually('the refusal', () => payment.status === 'PAYER_ACTION_REQUIRED');
  const said = 'paypal did not capture an approved payment: INSTRUMENT_DECLINED';
  await eventually('the line of the log', () => service.lines.some((line) => line.includes(said)));
  t.like(await service.read(order.path), { status: 'created', payments: [] });
  t.is(await service.capacity(), service.granted);

  t.is(await service.deliver(paypal.approve(payment)), 200);
  await eventually('the capture', () => payment.status === 'COMPLETED');
  await deliverUnsent();
  await service.becomes(order.path, 'fulfilled');
  t.false(service.lines.join('').includes('canary-of-the-message'));
});

test('A payment that ends unpaid ends the order, and an order that its buyer has canceled is not captured', async (t) => {
  const { paypal, service, placePaid } = await givenPayPalService(t);
  const [ended, canceled] = [await placePaid(), await placePaid()];

  t.is(await service.deliver(paypal.expire(ended.payment)), 200);
  t.is((await service.client.post(`${canceled.order.path}/cancel`, {}, service.headers)).status, 200);
  t.is(await service.deliver(paypal.approve(canceled.payment)), 200);

  await service.becomes(ended.order.path, 'canceled');
  const approvals = await service.services.eventStore.read(`checkout-${canceled.order.id}`, { limit: 10 });
  t.deepEqual(pluck(approvals, 'type'), ['PaymentMade', 'PaymentApproved']);
  const reaction: AnyReaction = service.services.commands.paymentReactions.captureApprovedPayments;
  const approved = approvals.flatMap((event) => eventFor(reaction, { ...event, position: '1' }) ?? []);
  t.deepEqual(await Promise.all(approved.map((event) => reaction.asks(event))), ['no']);
  t.is(canceled.payment.status, 'APPROVED');
  t.is(await service.capacity(), service.granted);
  for (const { order } of [ended, canceled]) t.is((await service.pay(order.path)).status, 409);
});

test('A capture that PayPal fails, and one whose reply is lost, is tried again and takes the money once', async (t) => {
  const { paypal, service, placePaid, deliverUnsent } = await givenPayPalService(t, { timeMs: 2_000 });
  const { order, payment } = await placePaid();
  paypal.forgetTokens();

  // Given a token that PayPal has forgotten, a renewal that fails, a failure, and a capture without a reply
  paypal.will('serves', 'fails', 'serves', 'fails', 'drops');
  t.is(await service.deliver(paypal.approve(payment)), 200);
  await eventually('the capture', async () => {
    const events = await service.services.eventStore.read(`checkout-${order.id}`, { limit: 10 });
    return events.some(({ type }) => type === 'CaptureAccepted');
  });

  const captures = paypal.requests.filter(({ path }) => path.endsWith('/capture'));
  t.true(captures.length >= 4);
  t.is(new Set(captures.map(({ headers }) => headers['paypal-request-id'])).size, 1);
  t.is(await deliverUnsent(), 1);
  await service.becomes(order.path, 'fulfilled');
});

test('A payment of another PayPal order for the same number goes to review, and an operator applies it', async (t) => {
  // Given an order with a payment that the service made
  const { paypal, service, placePaid } = await givenPayPalService(t);
  const { order, payment } = await placePaid();

  // When another order of the same number and price is paid
  t.is(await service.deliver(paypal.payBeside(payment)), 200);

  // Then it waits for an operator, who applies it
  await service.becomes(order.path, 'review');
  const [waiting] = await service.services.readers.orders.inReview({ limit: 10 });
  t.like(waiting, { reason: 'another_payment', provider: 'paypal' });
  t.is(await service.capacity(), service.granted);
  await service.services.commands.resolvePayment(
    { id: waiting?.id ?? '', action: 'apply', order_id: null, note: 'the shop made it' },
    givenContext(1, new Date(), 'operator'),
  );
  await service.becomes(order.path, 'fulfilled');
});
