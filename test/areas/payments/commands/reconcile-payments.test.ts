import { askForRefunds } from '../../../../src/areas/payments/commands/deciding/refunding.js';
import { eventFor } from '../../../../src/event-sourcing/effects/reaction.js';
import test from 'ava';
import { makeReconcileDaily } from '../../../../src/areas/payments/commands/callbacks/reconcile-daily.js';
import {
  type ReconcilePayments,
  makeReconciling,
} from '../../../../src/areas/payments/commands/callbacks/reconciling.js';
import { checkoutAggregate } from '../../../../src/areas/payments/domain/checkout/checkout.js';
import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import { orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import { PlatformError } from '../../../../src/areas/payments/domain/platform-error.js';
import type {
  PaymentMaker,
  QueriedPayment,
  ReportList,
} from '../../../../src/areas/payments/platforms/payment-maker.js';
import { digest } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { partial } from '../../../support/fakes/partial.js';
import { settableClock } from '../../../support/fakes/settable-clock.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { aReport, placeOrderAs } from '../../../support/given/an-order.js';
import type { PaymentMakers } from '../../../../src/areas/payments/platforms/configured.js';

const time = new Date('2026-01-02T03:04:05.000Z');
const context = () => givenContext(1, time);
const period = { from: new Date(0), to: time, after: null };
const idOf = (n: number): string => `019b7d00-0000-7000-8000-00000000a${String(n).padStart(3, '0')}`;
const unused = () => Promise.reject(new Error('this test does not call it'));
const queries = { query: unused, queryRefund: unused };

/** Makes the command over `count` orders of WeChat Pay. @param query what the platform answers about the nth order */
async function givenOrders(
  count: number,
  query: (n: number) => QueriedPayment,
  queryRefund: () => QueriedPayment = fails,
) {
  const { handler, eventStore } = await givenStores();
  const clock = settableClock(time);
  const ids = Array.from({ length: count }, (_, n) => idOf(n));
  const accepted: string[] = [];
  const maker: PaymentMaker = {
    makePayment: unused,
    asks: {
      queryRefund: async () => Promise.resolve(queryRefund()),
      query: async (number) => Promise.resolve(query(ids.findIndex((id) => orderNumber(id) === number))),
    },
  };
  const { reconcilePayments, reconcileRefund } = makeReconciling({
    handler,
    paymentMakers: new Map([['wechatpay', maker]]),
    orders: partial({
      placedIn: async (_period, { after = '', limit }) =>
        Promise.resolve(
          ids
            .filter((id) => id > after)
            .slice(0, limit)
            .map((id) => partial({ id, provider: 'wechatpay', status: 'created' })),
        ),
    }),
    clock,
    onFailure: () => undefined,
    acceptNews: async (_provider, { key }) => {
      accepted.push(key);
      return Promise.resolve(true);
    },
  });
  return {
    accepted,
    handler,
    eventStore,
    clock,
    reconcile: (after: string | null = null) =>
      reconcilePayments({ provider: 'wechatpay', ...period, after }, context()),
    reconcileRefund,
  };
}

const reported = (n: number): QueriedPayment => ({
  kind: 'reported',
  report: { key: `order ${n}`, isOurs: true, notifications: [], digest: '' },
});

function fails(): never {
  throw new PlatformError('refused', 'SYSTEM_ERROR');
}
function isAway(): never {
  throw new PlatformError('unavailable', null);
}

test('An order that the platform fails to tell stops no other order', async (t) => {
  const { reconcile, accepted } = await givenOrders(4, (n) => (n === 0 || n === 2 ? fails() : reported(n)));
  t.deepEqual(await reconcile(), { asked: 4, reported: 2, failed: [idOf(0), idOf(2)], next: null });
  t.deepEqual(accepted, ['order 1', 'order 3']);
});

test('A call ends after five failed orders, and the next call goes on after the last of them', async (t) => {
  const { reconcile, accepted } = await givenOrders(8, (n) => (n >= 1 && n <= 5 ? fails() : reported(n)));
  const first = await reconcile();
  t.like(first, { asked: 6, reported: 1, next: idOf(5) });
  t.is(first.failed.length, 5);
  t.deepEqual(await reconcile(first.next), { asked: 2, reported: 2, failed: [], next: null });
  t.deepEqual(accepted, ['order 0', 'order 6', 'order 7']);
});

test('A platform that does not answer about the first five orders is unavailable, and fewer stop nothing', async (t) => {
  for (const count of [5, 8]) {
    const { reconcile } = await givenOrders(count, isAway);
    t.is(await outcomeOf(reconcile()), 'platform_unavailable');
  }
  for (const count of [1, 4]) {
    const { reconcile } = await givenOrders(count, isAway);
    const failed = Array.from({ length: count }, (_, n) => idOf(n));
    t.deepEqual(await reconcile(), { asked: count, reported: 0, failed, next: null });
  }
});

test('Orders that the platform refuses to tell stop no later one', async (t) => {
  for (const refuses of [fails, (n: number) => (n === 2 ? fails() : isAway())]) {
    const { reconcile, accepted } = await givenOrders(6, (n) => (n < 5 ? refuses(n) : reported(n)));
    const first = await reconcile();
    t.like(first, { asked: 5, reported: 0, next: idOf(4) });
    t.is(first.failed.length, 5);
    t.deepEqual(await reconcile(first.next), { asked: 1, reported: 1, failed: [], next: null });
    t.deepEqual(accepted, ['order 5']);
  }
  // and one order at the end of a page is no reason to ask for it again and again
  const { reconcile } = await givenOrders(101, (n) => (n === 100 ? fails() : { kind: 'unknown' }));
  const { next } = await reconcile();
  t.deepEqual(await reconcile(next), { asked: 1, reported: 0, failed: [idOf(100)], next: null });
});

test('A refund that the platform fails to tell does not hide the state of its order', async (t) => {
  const { reconcile, accepted, handler } = await givenOrders(1, reported, isAway);
  const money = { amount: 300, currency: 'USD' };
  const asked = {
    ...({ refund: idOf(50), provider: 'wechatpay', transaction_id: 't1', ...money } as const),
    ...{ project_id: null, note: sealedExample('note'), note_of: null, note_digest: digest },
  };
  await handler.handle(
    { aggregate: checkoutAggregate, id: idOf(0) },
    { type: 'AskRefund', refund: asked, remaining: () => 300 },
    context(),
  );
  t.deepEqual(await reconcile(), { asked: 1, reported: 1, failed: [idOf(0)], next: null });
  t.deepEqual(accepted, ['order 0']);
});

test('An order with many refunds of which the platform told no end does not prolong a call', async (t) => {
  let refunds = 0;
  const { reconcile, accepted, handler, clock } = await givenOrders(2, reported, () => {
    refunds += 1;
    clock.advance(10_000);
    return { kind: 'unknown' };
  });
  for (let n = 0; n < 30; n += 1) {
    const asked = {
      ...({ refund: idOf(100 + n), provider: 'wechatpay', transaction_id: `t${n}` } as const),
      ...{ amount: 1, currency: 'USD', project_id: null },
      ...{ note: sealedExample('note'), note_of: null, note_digest: digest },
    };
    const ask = { type: 'AskRefund', refund: asked, remaining: () => 1 } as const;
    await handler.handle(checkoutAggregate.at(idOf(0)), ask, givenContext(100 + n, time));
  }
  t.deepEqual(await reconcile(), { asked: 1, reported: 1, failed: [], next: idOf(0) });
  t.deepEqual(accepted, ['order 0']);
  t.is(refunds, 5);
});

test('The platform is asked for a refund whose end it has not reported within a day, however old the order is', async (t) => {
  const told: QueriedPayment = {
    kind: 'reported',
    report: { key: 'its refund', isOurs: true, notifications: [], digest },
  };
  for (const answer of [() => told, isAway]) {
    // Given a refund that the service asked for
    const { handler, eventStore, clock, reconcileRefund, accepted } = await givenOrders(1, reported, answer);
    const money = { amount: 300, currency: 'USD' };
    const target = { aggregate: orderAggregate, id: idOf(0) };
    await placeOrderAs({ handler }, idOf(0), givenContext(10, time), { provider: 'wechatpay', ...money });
    const asked = {
      ...({ refund: idOf(50), provider: 'wechatpay', transaction_id: 't1', ...money } as const),
      ...{ project_id: null, note: sealedExample('note'), note_of: null, note_digest: digest },
    };
    const ask = { type: 'AskRefund', refund: asked, remaining: () => 300 } as const;
    await handler.handle(checkoutAggregate.at(idOf(0)), ask, givenContext(11, time));
    const reaction = askForRefunds({ clock, reconcileRefund });
    const [stored] = await eventStore.read(`checkout-${idOf(0)}`);
    const event = eventFor(reaction, partial({ ...stored, position: '1' })) as Parameters<
      typeof reaction.asks
    >[0];
    // When a day has passed without a report, then the service asks
    const { recordedAt } = event;
    clock.advance(recordedAt.getTime() - clock.now().getTime());
    const notBefore = new Date(recordedAt.getTime() + 86_400_000);
    t.deepEqual(await reaction.asks(event), { notBefore });
    clock.advance(86_400_000);
    t.is(await reaction.asks(event), 'yes');
    const outcome = await outcomeOf(reaction.conclude(event, context(), undefined));
    t.is(outcome, answer === isAway ? 'platform_unavailable' : 'passed');
    t.deepEqual(accepted, answer === isAway ? ['order 0'] : ['its refund', 'order 0']);
    // And when the report has come, it does not
    const facts = [
      { kind: 'paid', ...money } as const,
      { kind: 'refund', refund_id: idOf(50), status: 'succeeded', ...money } as const,
    ];
    const reports = facts.map((fact, index) =>
      aReport(fact, { provider: 'wechatpay', callback: `wechatpay-${index}` }),
    );
    await handler.handle(target, { type: 'Report', reports }, givenContext(12, time));
    t.is(await reaction.asks(event), 'no');
  }
});

test('A refund of a payment that was never reported does not hide that the payment is lost', async (t) => {
  const told = (n: number): QueriedPayment => ({
    ...({ kind: 'refunded', transactionId: 't1' } as const),
    report: { key: `refunded ${n}`, isOurs: true, notifications: [], digest },
  });
  const { reconcile, accepted, handler } = await givenOrders(2, told);
  const money = { amount: 300, currency: 'USD' };
  const refund = { kind: 'refund', refund_id: 'r1', status: 'succeeded', ...money } as const;
  for (const [n, facts] of [[refund], [{ kind: 'paid', ...money } as const, refund]].entries()) {
    const target = { aggregate: orderAggregate, id: idOf(n) };
    const placed = { provider: 'wechatpay', ...money } as const;
    await placeOrderAs({ handler }, idOf(n), givenContext(10 * n + 10, time), placed);
    const reports = facts.map((fact, index) =>
      aReport(fact, { provider: 'wechatpay', callback: `wechatpay-${index}` }),
    );
    await handler.handle(target, { type: 'Report', reports }, givenContext(10 * n + 11, time));
  }
  t.deepEqual(await reconcile(), { asked: 2, reported: 1, failed: [], next: null });
  t.deepEqual(accepted, ['refunded 0']);
});

test('A failure that is not of the platform ends the call', async (t) => {
  const { reconcile } = await givenOrders(2, () => {
    throw new TypeError('a mistake');
  });
  await t.throwsAsync(reconcile(), { instanceOf: TypeError });
});

/** Makes the daily run of makers over a clock that the test moves. `next` says where a call ends. */
async function givenDaily(
  makers: Readonly<Record<string, Partial<PaymentMaker>>>,
  next: (calls: number) => string | null,
) {
  const { stateStore } = await givenStores();
  const clock = settableClock(time);
  const asked: Parameters<ReconcilePayments>[0][] = [];
  const reconcileDaily = makeReconcileDaily({
    paymentMakers: new Map(Object.entries(makers)) as unknown as PaymentMakers,
    stateStore,
    clock,
    reconcilePayments: async (request) => {
      asked.push(request);
      return Promise.resolve({ asked: 100, reported: 0, failed: [], next: next(asked.length) });
    },
  });
  return { clock, asked, look: () => reconcileDaily(context) };
}

test('A list whose page leads to itself fails, and does not look like a list that goes on', async (t) => {
  // Given a platform whose page names itself as the next one
  const { handler } = await givenStores();
  const pages: (string | null)[] = [];
  const accepted: string[] = [];
  const asks: ReportList = {
    listReports: (_period, after) => {
      pages.push(after);
      const report = { key: `of page ${pages.length}`, isOurs: true, notifications: [], digest: '' };
      return Promise.resolve({ reports: [report], next: 'page 2' });
    },
  };
  const { reconcilePayments } = makeReconciling({
    ...{ handler, clock: settableClock(time), onFailure: () => undefined },
    acceptNews: (_provider, { key }) => Promise.resolve(accepted.push(key) > 0),
    paymentMakers: new Map([['paypal', { makePayment: unused, asks }]]),
    orders: partial({}),
  });
  // When the service asks for the list
  const outcome = await outcomeOf(reconcilePayments({ provider: 'paypal', ...period }, context()));
  // Then it fails after the second page, whose reports it takes
  t.is(outcome, 'platform_unavailable');
  t.deepEqual(pages, [null, 'page 2']);
  t.deepEqual(accepted, ['of page 1', 'of page 2']);
});

test('A daily run goes on where its last call ended, and gives way to a new one after a day', async (t) => {
  // given a platform whose runs never end
  const { clock, asked, look } = await givenDaily({ wechatpay: { asks: queries } }, idOf);
  await look();

  // when it is asked again within the day, then the run goes on
  clock.advance(60_000);
  await look();
  clock.advance(86_400_000 - 60_000 - 1);
  await look();
  // when the run is a day old, then another begins at the start of the last four days
  clock.advance(1);
  await look();
  const next = new Date(time.getTime() + 86_400_000);
  t.deepEqual(
    asked.map(({ to, after }) => ({ to, after })),
    [
      { to: time, after: null },
      { to: time, after: idOf(1) },
      { to: time, after: idOf(2) },
      { to: next, after: null },
    ],
  );
});

test('A daily run of a time when the clock was a year ahead is not waited for', async (t) => {
  for (const next of [() => null, idOf]) {
    // Given a run that has ended or goes on
    const { clock, asked, look } = await givenDaily({ wechatpay: { asks: queries } }, next);
    clock.advance(365 * 86_400_000);
    await look();
    // When the clock is set back, then another begins at once
    clock.advance(-365 * 86_400_000);
    await look();
    t.like(asked[1], { to: time, after: null });
  }
});

test('Each platform that lists its reports or can be asked about an order is asked once a day, and no other', async (t) => {
  const makers = {
    stripe: { asks: { listReports: unused } },
    wechatpay: { asks: queries },
    epay: { makePayment: unused },
  };
  const { clock, asked, look } = await givenDaily(makers, () => null);
  await look();
  await look();
  clock.advance(86_400_000);
  await look();
  const days = asked.map(
    ({ provider, from, to }) => `${provider}: ${(to.getTime() - from.getTime()) / 86_400_000} days`,
  );
  t.deepEqual(days, Array.from({ length: 2 }, () => ['stripe: 4 days', 'wechatpay: 4 days']).flat());
});
