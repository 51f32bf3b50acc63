import test from 'ava';
import type { AnyReaction, ReactionEvent } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  reportKeyOf,
  ownStreamId,
  reportName,
  transactionStreamId,
} from '../../../../src/areas/payments/domain/payment.js';
import type { OrderEvent } from '../../../../src/areas/payments/domain/order/events.js';
import { orderAggregate, reportsMax } from '../../../../src/areas/payments/domain/order/order.js';
import type { TransactionEvent } from '../../../../src/areas/payments/domain/transaction/events.js';
import {
  transactionAggregate,
  transactionReportsMax,
} from '../../../../src/areas/payments/domain/transaction/transaction.js';
import {
  applyReports,
  makePaymentReports,
} from '../../../../src/areas/payments/commands/callbacks/reports.js';
import type { DomainEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { partial } from '../../../support/fakes/partial.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { givenContext, type GivenStores } from '../../../support/given/given-stores.js';
import { digest } from '../../../support/examples/ids.js';
import { appendEvents } from '../../../support/given/append-events.js';
import {
  givenPayments,
  numbers,
  orderIds,
  paid,
  refunded,
  told,
} from '../../../support/given/given-payments.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { pluck } from '../../../support/given/pluck.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const [number] = numbers;
const [orderId] = orderIds;
const dispute = { kind: 'dispute', dispute_id: 'd1', status: 'open' } as const;

/** Given two orders, and a store whose appends to streams fail while `fail` matches their names. */
async function given() {
  let failing: RegExp | null = null;
  const reads: string[] = [];
  const world = await givenPayments({
    wrap: (store) => ({
      ...store,
      read: (stream, ...rest) => {
        reads.push(stream.split('-')[0] ?? '');
        return store.read(stream, ...rest);
      },
      append: async (stream, ...rest) => {
        if (failing?.test(stream) === true) throw new StoreUnavailable('away');
        return store.append(stream, ...rest);
      },
    }),
  });
  const written = async (from = 0) =>
    (await world.events()).slice(from).map(({ stream, type }) => `${stream.split('-')[0]}: ${type}`);
  return { ...world, written, reads, fail: (streams: RegExp | null) => void (failing = streams) };
}

test('A paid callback makes two appends, and its repetition none', async (t) => {
  const { send, written, callback } = await given();
  const before = (await written()).length;
  const message = { key: 'm1', told: [told(paid(), { number })] };
  await send(message);
  t.deepEqual(await written(before), ['transaction: PaymentReported', 'order: PaymentCaptured']);
  await send(message);
  t.is((await written()).length, before + 2);
  t.like(await callback('m1'), { held: null, disposition: 'applied', orderId });
  // Other content under the key is a conflict, which changes no order.
  await send({ key: 'm1', told: [told(paid(1), { number })] });
  t.deepEqual(await written(before + 2), ['transaction: PaymentConflicted']);
});

test('The reaction reads nothing of a report that its process has applied, and reads what another process has applied', async (t) => {
  const { send, react, another, reads, fail, written, order } = await given();
  await send({ key: 'm1', told: [told(paid(), { number })] });
  reads.length = 0;
  await react();
  t.deepEqual(reads, []);
  // A process that has cached neither stream reads both.
  await another().react();
  t.deepEqual(reads, ['transaction', 'order']);
  // The reaction applies what the request could not, after reads of the head.
  fail(/^order/);
  const before = (await written()).length;
  await send({ key: 'm2', told: [told(refunded(300))] });
  fail(null);
  t.like(await order(), { refunded: 0 });
  await react(before);
  t.like(await order(), { refunded: 300 });
});

test('While a request applies a report, the reaction in its process reads nothing, and asks again', async (t) => {
  const { world, reads } = await given();
  const { paymentReports } = world;
  paymentReports.underWay.add('t1');
  reads.length = 0;
  const event = partial<ReactionEvent<DomainEvent>>({ stream: 'transaction-t1', revision: 0n });
  const reaction: AnyReaction = applyReports(paymentReports);
  t.deepEqual([await reaction.asks(event), reads], ['not-yet', []]);
});

test('A report that came before its link reaches the order in one append with the report that links', async (t) => {
  const { send, written, callback, order, events } = await given();
  await send({ key: 'm1', told: [told(refunded(300))] });
  t.like(await callback('m1'), { held: 'unlinked_transaction', disposition: null });
  const before = (await written()).length;
  await send({ key: 'm2', told: [told(paid(), { number })] });
  t.deepEqual(await written(before), [
    ...['transaction: PaymentReported', 'order: RefundReported', 'order: PaymentCaptured'],
  ]);
  t.deepEqual(await order(), { status: 'partially_refunded', refunded: 300, due: true });
  const names = (await events()).slice(-2).map(({ data }) => data['callback']);
  const transaction = transactionStreamId('standard', 't1');
  t.deepEqual(names, [`${reportName(transaction, 0)}.0`, `${reportName(transaction, 1)}.0`]);
});

test('A payment that only a report of another account links to an order is no payment of it, in any order of arrival', async (t) => {
  // As Stripe reports a Payment Link: the session names the order that the buyer chose, and the intent names none.
  const session = { key: 'session', told: [told(paid(), { number })], isOurs: false };
  const intent = { key: 'intent', told: [told(paid())] };
  // The shop may give its own id to the intents of a link.
  const named = { key: 'intent', told: [told(paid(), { number: 'cart-7' })] };
  for (const messages of [
    [session, intent],
    [intent, session],
    [session, named],
  ]) {
    const { send, order, resolve, idOf } = await given();
    for (const message of messages) await send(message);
    t.like(await order(), { status: 'review', due: false });
    // An operator may apply it, and its refund counts then.
    await resolve({ id: `${await idOf('session')}.0`, action: 'apply' });
    t.like(await order(), { status: 'paid', due: true });
    await send({ key: 'refund', told: [told(refunded())] });
    t.like(await order(), { status: 'refunded', due: false });
  }
  // A payment that is pending blocks no order that it does not belong to.
  const { send, order } = await given();
  await send({ key: 'session', told: [told({ kind: 'unpaid' }, { number })], isOurs: false });
  await send({ key: 'intent', told: [told({ kind: 'pending' })] });
  t.like(await order(), { status: 'created' });
});

test('A time more than 5 minutes after the receipt counts as the receipt, and hides no later report', async (t) => {
  const total = (amount: number) => ({ kind: 'refunded-in-total', amount, currency: 'USD' }) as const;
  const inMs = (ms: number) => new Date(at.getTime() + ms).toISOString();
  for (const [aheadMs, status, pending] of [
    [300_001, 'refunded', 'failed'],
    [300_000, 'partially_refunded', 'pending'],
  ] as const) {
    const { send, order } = await given();
    await send({ key: 'paid', told: [told(paid(), { number })] });
    await send({ key: 'part', told: [{ ...told(total(100)), at: inMs(aheadMs) }] });
    await send({ key: 'whole', told: [{ ...told(total(999)), at: inMs(0) }] });
    t.is((await order()).status, status);
    const other = { number: numbers[1], transaction: 't2' };
    await send({ key: 'pending', told: [{ ...told({ kind: 'pending' }, other), at: inMs(aheadMs) }] });
    await send({ key: 'failed', told: [{ ...told({ kind: 'failed' }, other), at: inMs(0) }] });
    t.is((await order(1)).status, pending);
  }
});

test('A report without a transaction has a stream for itself', async (t) => {
  const { send, written, order } = await given();
  const before = (await written()).length;
  const pending = { key: 'm1', told: [told({ kind: 'pending' }, { number, transaction: null })] };
  await send(pending);
  await send(pending);
  t.deepEqual(await written(before), ['transaction: PaymentReported', 'order: PaymentPending']);
  t.like(await order(), { status: 'pending' });
});

test('A callback that names several transactions is reported once, and each part is forwarded', async (t) => {
  const { send, written } = await given();
  const unknown = { number: 'NOT-OURS', transaction: null };
  const cases = [
    [[told({ kind: 'failed' }, unknown)], []],
    [[told({ kind: 'unreadable', field: 'amount' }, { number })], []],
    [[told({ kind: 'nothing' })], []],
    [
      [told(paid(), { number, transaction: 't8' }), told(refunded(1), { number, transaction: 't9' })],
      [
        'transaction: PaymentReported',
        'order: PaymentCaptured',
        'transaction: PaymentReported',
        'order: RefundReported',
      ],
    ],
  ] as const;
  for (const [index, [notifications, expected]] of cases.entries()) {
    const before = (await written()).length;
    await send({ key: `m${index}`, told: notifications });
    t.deepEqual(await written(before), ['transaction: PaymentReported', ...expected]);
  }
});

test('The reaction applies what a request did not, and what its link releases', async (t) => {
  const { send, fail, another, order, written } = await given();
  await send({ key: 'm1', told: [told(refunded(300))] });
  // Given a payment that was accepted, and a process that stopped before it told the order
  fail(/^order/);
  t.is(await send({ key: 'm2', told: [told(paid(), { number })] }), 'acknowledged');
  fail(null);
  t.like(await order(), { status: 'created' });
  // When the reaction handles only the events from the link on
  await another().react((await written()).length - 1);
  // Then the order knows the payment and the refund, and the reaction is done
  t.deepEqual(await order(), { status: 'partially_refunded', refunded: 300, due: true });
  const { length } = await written();
  await another().react();
  t.is((await written()).length, length);
});

test('A repetition of a report that the order does not know is not acknowledged before the order knows it', async (t) => {
  const { send, fail, order } = await given();
  const message = { key: 'm1', told: [told(paid(), { number })] };
  fail(/^order/);
  await send(message);
  await t.throwsAsync(send(message), { instanceOf: StoreUnavailable });
  fail(null);
  t.is(await send(message), 'acknowledged');
  t.like(await order(), { status: 'paid' });
});

test('The reaction forwards what a request did not', async (t) => {
  const { send, fail, another, order } = await given();
  fail(new RegExp(transactionStreamId('standard', 't1')));
  await send({
    ...{ key: 'm1', told: [told(paid(), { number }), told(refunded(300), { number, transaction: 't2' })] },
  });
  fail(null);
  t.like(await order(), { status: 'created' });
  await another().react();
  t.like(await order(), { status: 'paid', due: true });
});

test('The reaction tells a decision that was cut off', async (t) => {
  const { send, idOf, fail, resolve, another, order, written } = await given();
  await send({ key: 'm1', told: [told(paid(), { number: 'NOT-OURS' })] });
  const id = await idOf('m1');
  fail(/^order/);
  await t.throwsAsync(resolve({ id, action: 'apply', order_id: orderId }), { instanceOf: StoreUnavailable });
  fail(null);
  await another().react((await written()).length - 1);
  t.like(await order(), { status: 'paid' });
});

/** Gives the first order as many reports as it keeps. */
async function fill({ handler }: GivenStores): Promise<void> {
  const events = Array.from({ length: reportsMax }, (_, n): OrderEvent => {
    const data = { ...{ callback: `standard-c${n}`, transaction_id: 't1', amount: 1, currency: 'USD' } };
    const refund = { refund_id: `r${n}`, status: 'pending' as const };
    return { type: 'RefundReported', data: { ...data, refund, at: at.toISOString() } };
  });
  await appendEvents(handler, { aggregate: orderAggregate, id: orderId }, events, at);
}

/** Given an order with room for no report, because the report `first` is in review. */
async function givenFull() {
  const world = await given();
  await fill(world.stores);
  await world.send({ key: 'first', told: [told(paid(), { number })] });
  return { ...world, reviewId: `${await world.idOf('first')}.0` };
}

test('A report for a full order waits with its reason, and is only dismissed', async (t) => {
  // When more reports come, then the first is a mismatch, and the next waits while the mismatch is open
  const { send, idOf, callback, resolve } = await givenFull();
  t.like(await callback('first'), { held: null, disposition: 'mismatch' });
  await send({ key: 'second', told: [told(paid(), { number, transaction: 't2' })] });
  t.like(await callback('second'), { held: 'order_full', disposition: null });
  // and an operator can dismiss it
  const id = await idOf('second');
  t.is(await outcomeOf(resolve({ id, action: 'apply', order_id: orderId })), 'payment_callback_full');
  t.like(await resolve({ id, action: 'dismiss' }), { disposition: 'ignored' });
  // and what moves no money is kept in the inbox
  const failed = told({ kind: 'failed' }, { number, transaction: null });
  t.is(await send({ key: 'third', told: [failed] }), 'acknowledged');
  // What moves no money waits for no operator.
  t.like(await callback('third'), { held: null, disposition: null });
});

test('A report has no outcome where the order gets room while the report is applied', async (t) => {
  const { stores, reviewId, resolve, callback, react } = await givenFull();
  const review = { id: reviewId, action: 'dismiss' } as const;
  // When an operator decides on that after the order has refused a second report
  const { handler } = stores;
  let isDecided = false;
  const paymentReports = makePaymentReports({
    handler: {
      load: (...request) => handler.load(...request),
      handle: async (target, command, ...rest) => {
        const handled = await handler.handle(target, command, ...rest);
        if (target.id === orderId && !isDecided) {
          isDecided = true;
          await resolve(review);
        }
        return handled;
      },
    },
    paymentMakers: new Map(),
  });
  const key = reportKeyOf('standard', 'second');
  const report = { order_number: number, transaction_id: 't2' };
  const message = { is_ours: true, order_id: null, received_at: at.toISOString() };
  const second = { ...message, key, digest, notifications: [{ ...report, fact: paid(), at: null }] };
  const reported = await paymentReports.report('standard', second, givenContext(900, at));
  // Then the attempt is repeated, and the next one applies the report
  await t.throwsAsync(reported.apply(givenContext(901, at)), { instanceOf: StoreUnavailable });
  await react();
  t.like(await callback('second'), { held: null, disposition: 'mismatch' });
});

test('A record that a full order would hold is refused, and is taken when the order has room', async (t) => {
  const { reviewId, resolve, record, written } = await givenFull();
  const before = (await written()).length;
  // When an operator records a payment, then nothing is written
  const payment = {
    order: orderId,
    kind: 'paid',
    transaction_id: 't2',
    amount: 999,
    currency: 'USD',
  } as const;
  t.is(await outcomeOf(record(payment)), 'payment_callback_full');
  t.is((await written()).length, before);
  // When the review is decided on, then the same record goes to the order
  await resolve({ id: reviewId, action: 'dismiss' });
  t.like(await record(payment), { outcome: 'recorded', disposition: 'mismatch' });
});

test('A waiting payment is not applied to an order without room for it, and stays in the list', async (t) => {
  const { stores, send, idOf, callback, resolve, events } = await given();
  // Given a payment and its refund without an order, and an order with room for neither, because one report is in review
  const unknown = { number: 'NOT-OURS', transaction: 't2' };
  await send({ key: 'paid', told: [told(paid(), unknown)] });
  await send({ key: 'refunded', told: [told(refunded(300), { transaction: 't2' })] });
  await fill(stores);
  await send({ key: 'first', told: [told(paid(), { number })] });
  const { length } = await events();
  // When an operator applies it, then nothing is written, and both wait as before
  const id = await idOf('paid');
  const apply = { id, action: 'apply', order_id: orderId } as const;
  t.is(await outcomeOf(resolve(apply)), 'payment_callback_full');
  t.is((await events()).length, length);
  t.like(await callback('paid'), { held: 'unknown_order', action: null });
  t.like(await callback('refunded'), { held: 'unlinked_transaction', action: null });
  // When the review is decided on, then the payment is applied, and goes to review itself
  await resolve({ id: `${await idOf('first')}.0`, action: 'dismiss' });
  t.like(await resolve(apply), { disposition: 'mismatch', order_id: orderId });
  // and its refund, for which the order has no room meanwhile, stays in the list
  t.like(await callback('refunded'), { held: 'order_full', disposition: null });
  // and the same decision again is known, although the order is full
  t.like(await resolve(apply), { disposition: 'mismatch', order_id: orderId });
});

test('A payment is not applied where an earlier report of its transaction takes the last room of the order', async (t) => {
  const { stores, send, idOf, callback, resolve } = await given();
  await send({ key: 'refunded', told: [told(refunded(300), { transaction: 't2' })] });
  const payment = told(paid(), { number: 'NOT-OURS', transaction: 't2' });
  await send({ key: 'paid', told: [payment] });
  await fill(stores);
  t.is(
    await outcomeOf(resolve({ id: await idOf('paid'), action: 'apply', order_id: orderId })),
    'payment_callback_full',
  );
  t.like(await callback('paid'), { held: 'unknown_order', action: null });
});

test('A transaction keeps a limited number of reports, and a further one waits for itself', async (t) => {
  const { stores, send, resolve, events } = await given();
  const kept = Array.from({ length: transactionReportsMax }, (_, n): TransactionEvent => {
    const notifications = [{ order_number: null, transaction_id: 't1', fact: dispute, at: null }];
    const data = { key: `c${n}`, digest, is_ours: true, order_id: null, received_at: at.toISOString() };
    return { type: 'PaymentReported', data: { ...data, notifications } };
  });
  const transaction = transactionStreamId('standard', 't1');
  await appendEvents(stores.handler, { aggregate: transactionAggregate, id: transaction }, kept, at);
  const { length } = await events();
  await send({ key: 'late', told: [told(paid(), { number })] });
  const own = ownStreamId('standard', reportKeyOf('standard', 'late'));
  t.deepEqual(pluck((await events()).slice(length), 'stream'), [`transaction-${own}`]);
  t.is(
    await outcomeOf(resolve({ id: `${own}@0`, action: 'apply', order_id: orderId })),
    'payment_callback_full',
  );
  t.like(await resolve({ id: `${own}@0`, action: 'dismiss' }), { disposition: 'ignored' });
});
