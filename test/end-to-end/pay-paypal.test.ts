import test from 'ava';
import { pluck } from '../support/given/pluck.js';
import { type AnyReaction, eventFor } from '../../src/event-sourcing/effects/reaction.js';
import { eventually } from '../support/eventually.js';
import { givenContext } from '../support/given/given-stores.js';
import { textOf } from '../support/clients/service-client.js';
import { paypalApp } from '../support/platforms/fake-paypal.js';
import { planBytes, givenRefunds } from '../support/platforms/paying-services.js';
import { givenPayPalService } from '../support/platforms/paypal-service.js';

test('A buyer approves an order at PayPal, the service captures it, and its callback grants what was bought', async (t) => {
  // Given a service with credentials of PayPal's API
  const { paypal, service, deliverUnsent } = await givenPayPalService(t);
  const granted = await service.capacity();
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
  await service.holds(granted + planBytes);
  t.is(paypal.requests.filter(({ path }) => path.endsWith('/capture')).length, 1);
  t.is(paypal.tokens.length, 1);

  // When the buyer disputes it and wins, then the grant ends
  t.is(await service.deliver(paypal.dispute(payment, 'open')), 200);
  t.is(await service.deliver(paypal.dispute(payment, 'lost')), 200);
  await service.becomes(order.path, 'disputed');
  await service.holds(granted);

  // and the log of the service has no secret, no token and no address of a payment
  const said = service.lines.join('');
  for (const secret of [paypalApp.clientSecret, ...paypal.tokens, 'checkoutnow', 'personal-canary'])
    t.false(said.includes(secret));
});

test('An operator gives back a part of a payment at PayPal and then the rest, and the grant ends with the rest', async (t) => {
  // Given a paid order
  const { paypal, service, placePaid, deliverUnsent } = await givenPayPalService(t, { timeMs: 2_000 });
  const granted = await service.capacity();
  const { order, payment } = await placePaid();
  t.is(await service.deliver(paypal.approve(payment)), 200);
  await eventually('the capture', () => payment.status === 'COMPLETED');
  await deliverUnsent();
  await service.becomes(order.path, 'fulfilled');
  const { refund, refused } = await givenRefunds(t, service, order.id);

  // When a part goes back, then PayPal's callback confirms it
  paypal.will('is slow', 'fails');
  t.deepEqual(await refused('one', 400), [503, 'platform_unavailable']);
  const first = await refund('one', 400);
  t.is(payment.refunded, 400);
  t.regex(textOf(first, 'refund_id'), /^1JU/);
  t.like(await service.read(order.path), { status: 'fulfilled', refunded_amount: 0 });
  await deliverUnsent();
  t.like(await service.becomes(order.path, 'partially_refunded'), { refunded_amount: 400 });

  // When the rest goes back, then the grant ends
  t.deepEqual(await refused('two', 600), [409, 'conflict']);
  t.like(await refund('three'), { amount: 599, currency: 'USD', transaction_id: payment.captureId });
  await deliverUnsent();
  t.like(await service.becomes(order.path, 'refunded'), { refunded_amount: 999 });
  await service.holds(granted);
});

test('A declined means of payment takes no money, and the next approval pays the order', async (t) => {
  const { paypal, service, placePaid, deliverUnsent } = await givenPayPalService(t);
  const granted = await service.capacity();
  const { order, payment } = await placePaid();
  payment.refusals.push('INSTRUMENT_DECLINED');

  t.is(await service.deliver(paypal.approve(payment)), 200);
  await eventually('the refusal', () => payment.status === 'PAYER_ACTION_REQUIRED');
  const said = 'paypal did not capture an approved payment: INSTRUMENT_DECLINED';
  await eventually('the line of the log', () => service.lines.some((line) => line.includes(said)));
  t.like(await service.read(order.path), { status: 'created', payments: [] });
  t.is(await service.capacity(), granted);

  t.is(await service.deliver(paypal.approve(payment)), 200);
  await eventually('the capture', () => payment.status === 'COMPLETED');
  await deliverUnsent();
  await service.becomes(order.path, 'fulfilled');
  t.false(service.lines.join('').includes('canary-of-the-message'));
});

test('A payment that ends unpaid ends the order, and an order that its buyer has canceled is not captured', async (t) => {
  const { paypal, service, placePaid } = await givenPayPalService(t);
  const granted = await service.capacity();
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
  t.is(await service.capacity(), granted);
  for (const { order } of [ended, canceled]) t.is((await service.pay(order.path)).status, 409);
});

test('While PayPal fails or is silent the call is 503, and the next one makes the one payment', async (t) => {
  const { paypal, service } = await givenPayPalService(t, { timeMs: 2_000 });
  const order = await service.place();
  // Given a token, two tries that fail, and two that no reply follows, the latter after PayPal did its work
  paypal.will('serves', 'fails', 'fails', 'is silent', 'is slow');
  for (const answer of ['fails', 'silent']) {
    const away = await service.pay(order.path);
    t.deepEqual([away.status, away.json()['code']], [503, 'platform_unavailable'], answer);
    t.is(away.headers.get('retry-after'), '10');
  }
  t.is(paypal.orders.length, 1);

  const made = await service.pay(order.path);
  t.is(made.status, 200, made.text);
  t.is(paypal.orders.length, 1);
  const keys = paypal.requests
    .map(({ headers }) => headers['paypal-request-id'])
    .filter((key) => key !== undefined);
  t.is(new Set(keys).size, 1);
  t.false(service.lines.join('').includes('canary-of-the-message'));
  t.true(service.lines.some((line) => line.includes('paypal did not make a payment: outcome_unknown')));
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

test('Credentials that PayPal refuses are 503, and the log names the code and not the message', async (t) => {
  const { service } = await givenPayPalService(t, { clientSecret: 'TestOnlyAnotherSecret0123' });
  const order = await service.place();
  const refused = await service.pay(order.path);
  t.deepEqual([refused.status, refused.json()['code']], [503, 'platform_unavailable']);
  t.true(service.lines.some((line) => line.includes('unavailable, invalid_client')));
  t.false(service.lines.join('').includes('canary-of-the-message'));
});

test('A payment of another PayPal order for the same number goes to review, and an operator applies it', async (t) => {
  // Given an order with a payment that the service made
  const { paypal, service, placePaid } = await givenPayPalService(t);
  const granted = await service.capacity();
  const { order, payment } = await placePaid();

  // When another order of the same number and price is paid
  t.is(await service.deliver(paypal.payBeside(payment)), 200);

  // Then it waits for an operator, who applies it
  await service.becomes(order.path, 'review');
  const [waiting] = await service.services.readers.orders.inReview({ limit: 10 });
  t.like(waiting, { reason: 'another_payment', provider: 'paypal' });
  t.is(await service.capacity(), granted);
  await service.services.commands.resolvePayment(
    { id: waiting?.id ?? '', action: 'apply', order_id: null, note: 'the shop made it' },
    givenContext(1, new Date(), 'operator'),
  );
  await service.becomes(order.path, 'fulfilled');
});
