import test from 'ava';
import fc from 'fast-check';
import type { OrderEvent } from '../../../../src/areas/payments/domain/order/events.js';
import { orderNumber, parseOrderNumber } from '../../../../src/areas/payments/domain/payment.js';
import { evolve, isOpenStatus, orderStatusSchema } from '../../../../src/areas/payments/domain/order/fold.js';
import {
  orderAggregate,
  type OrderCommand,
  type OrderState,
  type OrderStatus,
  outcomeIn,
  type ReportedFact,
  reportsMax,
} from '../../../../src/areas/payments/domain/order/order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import { digest, orderId, userId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';
import {
  aReport,
  orderPlaced,
  seenOrder,
  anOrder,
  eventsAfter,
  orderAfter,
} from '../../../support/given/an-order.js';

const placed = orderPlaced();
const money = { amount: 999, currency: 'USD' };
const paid: PaymentFact = { kind: 'paid', ...money };
const instantAt = (minute: number): Date => new Date(Date.UTC(2026, 0, 2, 4, minute));

function reportOf(
  fact: PaymentFact,
  callback = 'standard-c1',
  minute = 0,
  transactionId: string | null = 't1',
): OrderCommand {
  return { type: 'Report', reports: [aReport(fact, { callback, transactionId, at: instantAt(minute) })] };
}

const note = { note: sealedExample('why'), note_of: userId, note_digest: digest };

test('An order is placed once', (t) => {
  given(orderAggregate)
    .when({ type: 'Place', ...anOrder() })
    .then(t, placed);
  t.like(orderAfter(), { status: 'created', refunded: 0, due: false });
});

test('A payment of the right amount and currency is captured once', (t) => {
  given(orderAggregate, placed)
    .when(reportOf(paid))
    .then(t, {
      type: 'PaymentCaptured',
      data: { callback: 'standard-c1', transaction_id: 't1', ...money, at: instantAt(0).toISOString() },
    });
  t.like(orderAfter(reportOf(paid)), { status: 'paid', due: true });
});

test('A payment of another amount or currency needs a review', (t) => {
  const wrong: readonly PaymentFact[] = [
    { kind: 'paid', amount: 998, currency: 'USD' },
    { kind: 'paid', amount: 1_000, currency: 'USD' },
    { kind: 'paid', amount: 999, currency: 'JPY' },
  ];
  for (const fact of wrong) t.like(orderAfter(reportOf(fact)), { status: 'review', due: false });
  const resolved = (action: 'apply' | 'dismiss'): OrderCommand => ({
    type: 'ResolveReview',
    callback: 'standard-c1',
    action,
    note,
  });
  const [fact] = wrong;
  if (fact === undefined) return t.fail();
  t.like(orderAfter(reportOf(fact), resolved('apply')), { status: 'paid', due: true });
  t.like(orderAfter(reportOf(fact), resolved('dismiss')), { status: 'created', due: false });
});

test('An unpaid order expires, and a later payment revives it', (t) => {
  const expire = (time: string): OrderCommand => ({ type: 'Expire', now: new Date(time) });
  t.is(orderAfter(expire('2026-01-03T03:04:04.999Z')).status, 'created');
  t.is(orderAfter(expire('2026-01-03T03:04:05.000Z')).status, 'expired');
  t.is(orderAfter(expire('2026-01-03T03:04:05.000Z'), reportOf(paid)).status, 'paid');
  const [captured] = orderAggregate.decider.decide(reportOf(paid), given(orderAggregate, placed).state);
  if (captured === undefined) return t.fail();
  given(orderAggregate, placed, captured).when(expire('2026-01-03T03:04:05.000Z')).thenNothing(t);
});

test('An open order is canceled, and a paid one is not', (t) => {
  t.is(orderAfter({ type: 'Cancel' }).status, 'canceled');
  t.is(orderAfter({ type: 'Cancel' }, { type: 'Cancel' }).status, 'canceled');
  const { state } = given(orderAggregate, placed);
  const captured = orderAggregate.decider.decide(reportOf(paid), state);
  given(orderAggregate, placed, ...captured)
    .when({ type: 'Cancel' })
    .thenRejected(t, 'order_not_open');
  // A canceled order that was paid later is not canceled again: its buyer must not believe that the order is void.
  given(orderAggregate, placed, { type: 'OrderCanceled', data: {} }, ...captured)
    .when({ type: 'Cancel' })
    .thenRejected(t, 'order_not_open');
});

test('The grant is held while a capture stands, and fulfilments and revocations alternate', (t) => {
  const all: PaymentFact = { kind: 'refunded-in-total', amount: 999, currency: 'USD' };
  const marks: readonly OrderCommand[] = [{ type: 'MarkFulfilled' }, { type: 'MarkRevoked' }];
  t.is(orderAfter(...marks).status, 'created');
  t.is(orderAfter(reportOf(paid), ...marks).status, 'fulfilled');
  const refunded = given(
    orderAggregate,
    ...eventsAfter(reportOf(paid), ...marks, reportOf(all, 'standard-c2', 1), ...marks),
  ).state;
  t.like(seenOrder(refunded), { status: 'refunded', refunded: 999, due: false });
  const captured = orderAggregate.decider.decide(reportOf(paid), given(orderAggregate, placed).state);
  const fulfilled = given(orderAggregate, placed, ...captured, { type: 'OrderFulfilled', data: {} });
  for (const mark of marks) fulfilled.when(mark).thenNothing(t);
  t.false(refunded.status === 'placed' && refunded.is_granted);
});

type RefundStatus = Extract<PaymentFact, { kind: 'refund' }>['status'];
const refundOf = (status: RefundStatus, amount: number, refund_id = 'r1'): PaymentFact => ({
  ...({ kind: 'refund', refund_id, status, amount, currency: 'USD' } as const),
});
const lossOf = (amount: number, status: 'succeeded' | 'reversed', refundId?: string) =>
  refundOf(status, amount, refundId);
const totalOf = (amount: number, currency = 'USD'): PaymentFact => ({
  ...{ kind: 'refunded-in-total', amount, currency },
});
const decisionOf = (status: 'open' | 'won' | 'lost', amount?: number, currency = 'USD'): PaymentFact => ({
  ...({ kind: 'dispute', dispute_id: 'd1', status } as const),
  ...(amount === undefined ? {} : { amount, currency }),
});

/** What platforms report one minute after the other, and whether the buyer keeps the grant. */
const losses: readonly (readonly [string, readonly PaymentFact[], boolean])[] = [
  ['a reversal of a part', [lossOf(400, 'reversed')], true],
  ['a reversal of the whole', [lossOf(999, 'reversed')], false],
  ['two reversals of the whole', [lossOf(400, 'reversed'), lossOf(599, 'reversed', 'r2')], false],
  ['a reversal and a later decision for the seller', [lossOf(999, 'reversed'), decisionOf('won')], true],
  ['a decision for the seller about a part', [lossOf(999, 'reversed'), decisionOf('won', 1)], true],
  ['a reversal after a decision for the seller', [decisionOf('won'), lossOf(999, 'reversed')], false],
  ['a reversal and its lost dispute', [lossOf(600, 'reversed'), decisionOf('lost', 600)], true],
  ['a reversal and its refund', [lossOf(600, 'reversed'), lossOf(600, 'succeeded')], true],
  ['a reversal and another refund', [lossOf(600, 'reversed'), lossOf(399, 'succeeded', 'r2')], false],
  [
    'a refund with its total and a later reversal of its id',
    [lossOf(600, 'succeeded'), totalOf(600), lossOf(600, 'reversed')],
    true,
  ],
  [
    'a refund that failed before the total of another, and a reversal of its id',
    [refundOf('failed', 300), totalOf(700), lossOf(300, 'reversed')],
    false,
  ],
  ['a lost dispute that is won later', [decisionOf('lost'), decisionOf('won')], true],
  ['an open dispute', [decisionOf('open')], true],
];
for (const [title, facts, isKept] of losses) {
  test(`The grant ${isKept ? 'stays with' : 'ends with'} ${title}, in any order of arrival`, (t) => {
    const reports = facts.map((fact, n) => reportOf(fact, `standard-l${n}`, n + 1));
    for (const commands of [
      [reportOf(paid), ...reports],
      [...reports.toReversed(), reportOf(paid)],
    ])
      t.is(orderAfter(...commands).due, isKept);
  });
}

test('A refund that failed after a total reduces the refunded amount', (t) => {
  const total: PaymentFact = { kind: 'refunded-in-total', amount: 500, currency: 'USD' };
  const reports = (totalAt: number, failedAt: number) => [
    ...[reportOf(paid), reportOf(total, 'standard-c2', totalAt)],
    reportOf(refundOf('failed', 200), 'standard-c3', failedAt),
  ];
  t.is(orderAfter(...reports(1, 2)).refunded, 300);
  t.is(orderAfter(...reports(2, 1)).refunded, 500);
});

type Seen = Partial<ReturnType<typeof seenOrder>>;
const nothing: PaymentFact = { kind: 'nothing' };
const taxed: PaymentFact = { kind: 'paid', ...money, charged: 1_230 };
/** Two reports on a payment of 999, and the resulting order in either order of arrival. Minutes: 1 unless others are given. */
const pairs: readonly (readonly [string, PaymentFact, PaymentFact, Seen, (readonly [number, number])?])[] = [
  ['the later refund', refundOf('succeeded', 300), refundOf('pending', 300), { refunded: 0 }, [1, 2]],
  ['failure over success', refundOf('succeeded', 300), refundOf('failed', 300), { refunded: 0 }],
  ['success over pending', refundOf('pending', 300), refundOf('succeeded', 300), { refunded: 300 }],
  ['the larger refund', refundOf('succeeded', 300), refundOf('succeeded', 400), { refunded: 400 }],
  [
    'a reversal over a later refund of its id',
    refundOf('reversed', 300),
    refundOf('succeeded', 300),
    { status: 'disputed', refunded: 0 },
    [1, 2],
  ],
  ['the later total', totalOf(400), totalOf(300), { refunded: 300 }, [1, 2]],
  ['the larger total', totalOf(300), totalOf(400), { refunded: 400 }],
  // Stripe's times are whole seconds, and it reports no total when a refund fails.
  ['a failure at the time of a total', totalOf(400), refundOf('failed', 300), { refunded: 100 }],
  ['a refund that fails in its second', totalOf(999), refundOf('failed', 999), { refunded: 0, due: true }],
  [
    'a part that is lost in a dispute',
    decisionOf('open', 100),
    decisionOf('lost', 100),
    { status: 'disputed', due: true },
    [1, 2],
  ],
  [
    'a part that is lost and the rest refunded',
    totalOf(899),
    decisionOf('lost', 100),
    { status: 'disputed', due: false },
    [1, 2],
  ],
  [
    'a loss in another currency as the whole',
    decisionOf('lost', 100, 'EUR'),
    nothing,
    { status: 'disputed', due: false },
  ],
  [
    'a payment with tax and its refund',
    taxed,
    totalOf(1_230),
    { refunded: 1_230, status: 'refunded', due: false },
    [0, 1],
  ],
  [
    'the money of a payment with tax as the same payment',
    taxed,
    { ...paid, amount: 1_230 },
    { status: 'paid', due: true },
    [0, 1],
  ],
  ['no more refunds than payments', totalOf(2_000), nothing, { refunded: 999, status: 'refunded' }],
  ['an open dispute', decisionOf('open'), nothing, { status: 'disputed', due: true }],
  ['an end over an opening', decisionOf('won'), decisionOf('open'), { status: 'paid', due: true }, [1, 2]],
  ['the later end', decisionOf('lost'), decisionOf('won'), { status: 'paid', due: true }, [1, 2]],
  ['a loss over a win', decisionOf('won'), decisionOf('lost'), { status: 'disputed', due: false }],
];

for (const [what, one, other, expected, [oneAt, otherAt] = [1, 1]] of pairs) {
  test(`An order counts ${what}, in either order of arrival`, (t) => {
    const reports = [reportOf(one, 'standard-c1', oneAt), reportOf(other, 'standard-c2', otherAt)];
    t.like(orderAfter(reportOf(paid, 'standard-c0'), ...reports), expected);
    t.like(orderAfter(...reports.toReversed(), reportOf(paid, 'standard-c0')), expected);
  });
}

test('A discount, and a report of the money that moved, are one payment that a refund of that money ends', (t) => {
  const asked = reportOf({ kind: 'paid', amount: 999, currency: 'USD', charged: 500 }, 'standard-c1');
  const moved = reportOf({ kind: 'paid', amount: 500, currency: 'USD' }, 'standard-c2');
  for (const reports of [
    [asked, moved],
    [moved, asked],
  ]) {
    t.like(orderAfter(...reports), { status: 'paid', due: true, refunded: 0 });
    const refunded = orderAfter(...reports, reportOf(totalOf(500), 'standard-c3', 1));
    t.like(refunded, { status: 'refunded', due: false, refunded: 500 });
  }
  // The money of another payment is no payment of the order.
  const another = reportOf({ kind: 'paid', amount: 500, currency: 'USD' }, 'standard-c2', 0, 't2');
  t.is(orderAfter(asked, another).status, 'review');
});

test('An unpaid order that ended in several ways is canceled by its buyer first, then expired, then failed', (t) => {
  const failed = reportOf({ kind: 'failed' });
  const expired = reportOf({ kind: 'expired' }, 'standard-c2');
  const expire: OrderCommand = { type: 'Expire', now: new Date('2026-01-04T03:04:05.000Z') };
  t.is(orderAfter(failed).status, 'failed');
  t.is(orderAfter(failed, expired).status, 'expired');
  t.is(orderAfter(expired, failed).status, 'expired');
  t.is(orderAfter({ type: 'Cancel' }, { type: 'Cancel' }, failed).status, 'canceled');
  t.is(orderAfter(failed, expire).status, 'failed', 'a failed order does not expire');
  t.is(orderAfter(reportOf({ kind: 'pending' })).status, 'pending');
});

test('An order that its buyer canceled while a payment was under way does not expire later', (t) => {
  const events = orderAggregate.decider.decide(
    reportOf({ kind: 'pending' }),
    given(orderAggregate, placed).state,
  );
  given(orderAggregate, placed, ...events, { type: 'OrderCanceled', data: {} })
    .when({ type: 'Expire', now: new Date('2026-02-04T03:04:05.000Z') })
    .thenNothing(t);
});

type End = 'pending' | 'unpaid' | 'failed' | 'canceled' | 'expired';
const told = (kind: End, n = 1, minute = 0, transaction?: string | null): OrderCommand =>
  reportOf({ kind }, `standard-c${n}`, minute, transaction);
const expiry = (minute: number): OrderCommand => ({ type: 'Expire', now: instantAt(minute) });
/** What platforms say of payments, by transaction and minute, and whether the order is expired; the status. */
const pendings: readonly (readonly [string, readonly OrderCommand[], OrderStatus])[] = [
  ['its own expiry', [told('pending'), expiry(36 * 60)], 'pending'],
  ['the end of another payment', [told('pending'), told('canceled', 2, 1, 't2')], 'pending'],
  ['an earlier end of it', [told('failed'), told('pending', 2, 1)], 'pending'],
  ['no end at its time', [told('pending'), told('failed', 2)], 'failed'],
  ['no later end', [told('pending'), told('expired', 2, 1)], 'expired'],
  ['no decision of the buyer', [told('pending'), { type: 'Cancel' }], 'canceled'],
  ['nothing where the buyer must act', [told('unpaid'), told('failed', 2)], 'failed'],
  ['no later end without a transaction', [told('pending'), told('failed', 2, 1, null)], 'failed'],
  [
    'no later end where it names no transaction',
    [told('pending', 1, 0, null), told('failed', 2, 1)],
    'failed',
  ],
  [
    'an earlier end where one of them names no transaction',
    [
      told('failed', 1, 0, null),
      told('pending', 2, 1),
      told('pending', 3, 2, null),
      told('failed', 4, 1, 't2'),
    ],
    'pending',
  ],
  ['a session without a transaction that expires', [told('pending'), told('expired', 2, 1, null)], 'pending'],
  [
    'no later expiry where both name none',
    [told('pending', 1, 0, null), told('expired', 2, 1, null)],
    'expired',
  ],
  ['no expiry after 21 days', [told('pending'), expiry(21 * 1_440)], 'expired'],
];
for (const [title, commands, status] of pendings) {
  test(`A pending payment outranks ${title}`, (t) => {
    t.is(orderAfter(...commands).status, status);
    if (commands.every(({ type }) => type === 'Report'))
      t.is(orderAfter(...commands.toReversed()).status, status);
    t.like(orderAfter(...commands, reportOf(paid, 'standard-c9', 50)), { status: 'paid', due: true });
  });
}

test('A report on a payment of another transaction changes nothing of the order', (t) => {
  const elsewhere = (of: PaymentFact, name: string): OrderCommand => reportOf(of, name, 1, 't2');
  const others = [elsewhere(decisionOf('lost'), 'standard-c2'), elsewhere(totalOf(999), 'standard-c3')];
  t.like(orderAfter(reportOf(paid), ...others), { status: 'paid', refunded: 0, due: true });
});

test('A decided mismatch is not found again, and the larger of two payments by one transaction counts', (t) => {
  const decide = (callback: string, action: 'apply' | 'dismiss'): OrderCommand => ({
    ...{ type: 'ResolveReview', callback, action, note },
  });
  const foreign = reportOf(totalOf(5, 'EUR'));
  const state = given(orderAggregate, ...eventsAfter(foreign, decide('standard-c1', 'dismiss'))).state;
  t.deepEqual(orderAggregate.decider.decide(foreign, state), []);
  const less = reportOf({ kind: 'paid', amount: 998, currency: 'USD' }, 'standard-c2');
  const refund = reportOf(totalOf(998), 'standard-c4', 1);
  for (const rest of [
    [less, decide('standard-c2', 'apply'), reportOf(paid, 'standard-c3')],
    [reportOf(paid, 'standard-c3'), less, decide('standard-c2', 'apply')],
  ]) {
    t.like(orderAfter(...rest, refund), { status: 'partially_refunded', refunded: 998, due: true });
  }
});

test('An order keeps a limited number of reports, and the next one needs a review', (t) => {
  // Given an order with as many reports as it keeps
  const many = Array.from({ length: reportsMax }, (_, n) =>
    reportOf(refundOf('succeeded', 1, `r${n}`), `standard-c${n}`),
  );
  const events: OrderEvent[] = [placed];
  let { state } = given(orderAggregate, placed);
  const tell = (command: OrderCommand): readonly OrderEvent[] => {
    const decided = orderAggregate.decider.decide(command, state);
    events.push(...decided);
    state = decided.reduce<OrderState>(evolve, state);
    return decided;
  };
  for (const command of many) t.is(tell(command).length, 1);
  t.is(seenOrder(state).status, 'created');
  // When a report repeats a known fact, then it decides nothing
  t.deepEqual(tell(reportOf(refundOf('succeeded', 1), 'standard-again')), []);
  // and the first report with a new fact puts the order in review
  const news = reportOf(paid, 'standard-news');
  t.like(tell(news)[0], {
    type: 'PaymentMismatchFound',
    data: { callback: 'standard-news', reason: 'too_many_reports' },
  });
  t.is(seenOrder(state).status, 'review');
  t.deepEqual(tell(news), [], 'once');
  // and there is no room for the next report while that review is open, and never for one that moves no money
  const next = reportOf(decisionOf('lost'), 'standard-next');
  t.deepEqual(outcomesOf(next), ['full']);
  t.deepEqual(tell(next), []);
  tell({ type: 'ResolveReview', callback: 'standard-news', action: 'apply', note });
  t.like(seenOrder(state), { status: 'partially_refunded', due: true });
  const apart = reportOf({ kind: 'failed' }, 'standard-apart');
  t.deepEqual(outcomesOf(apart), ['full']);
  t.deepEqual(tell(apart), []);
  t.like(tell(next)[0], { data: { callback: 'standard-next', reason: 'too_many_reports' } });
  t.deepEqual(outcomesOf(next), ['mismatch']);
  t.is(seenOrder(state).status, 'review');

  function outcomesOf(command: OrderCommand): readonly string[] {
    if (command.type !== 'Report' || state.status === 'absent') return [];
    const order = state;
    return command.reports.map((one) => outcomeIn(order, one));
  }
});

const fact: fc.Arbitrary<PaymentFact> = fc.oneof(
  fc.constantFrom<PaymentFact>(
    { kind: 'pending' },
    { kind: 'failed' },
    { kind: 'expired' },
    { kind: 'canceled' },
    { kind: 'nothing' },
    paid,
    { kind: 'paid', amount: 1, currency: 'USD' },
  ),
  fc.record({
    kind: fc.constant('refunded-in-total' as const),
    amount: fc.constantFrom(0, 300, 999, 2_000),
    currency: fc.constantFrom('USD', 'EUR'),
  }),
  fc.record({
    kind: fc.constant('refund' as const),
    refund_id: fc.constantFrom('r1', 'r2'),
    status: fc.constantFrom('pending' as const, 'succeeded' as const, 'failed' as const, 'reversed' as const),
    amount: fc.constantFrom(300, 999),
    currency: fc.constant('USD'),
  }),
  fc.record({
    kind: fc.constant('dispute' as const),
    dispute_id: fc.constantFrom('d1', 'd2'),
    status: fc.constantFrom('open' as const, 'won' as const, 'lost' as const),
  }),
);

const reports = fc
  .array(
    fc.record({
      transactionId: fc.constantFrom('t1', 't2'),
      fact,
      at: fc.integer({ min: 0, max: 3 }).map(instantAt),
    }),
    { maxLength: 8 },
  )
  .map((list) =>
    list.map((report, index): ReportedFact => {
      return { ...report, provider: 'standard', mismatch: null, callback: `standard-c${index}` };
    }),
  );

// `test/deep` tries every order of sets of up to six messages.
test('The same messages lead to the same order, independent of their arrival and repetition', (t) => {
  const property = fc.property(
    reports.chain((list) => {
      // Some messages arrive twice.
      const delivered = fc.shuffledSubarray(list).chain((repeated) => {
        const all = [...list, ...repeated];
        return fc.shuffledSubarray(all, { minLength: all.length });
      });
      return fc.tuple(fc.constant(list), delivered);
    }),
    ([list, delivered]) => {
      const command = (report: ReportedFact): OrderCommand => ({ type: 'Report', reports: [report] });
      const once = orderAfter(...list.map(command));
      t.deepEqual(orderAfter(...delivered.map(command)), once);
      t.true(once.refunded <= 2 * 999);
    },
  );
  fc.assert(property, { numRuns: 250, seed: 20_260_102 });
});

test('An order’s number leads to its id, in upper and lower case', (t) => {
  const number = orderNumber(orderId);
  t.is(number.length, 26);
  t.is(parseOrderNumber(number), orderId);
  t.is(parseOrderNumber(number.toLowerCase()), orderId);
  for (const id of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
    t.is(parseOrderNumber(orderNumber(id)), id);
  }
  for (const bad of ['', 'x', `${number}0`, number.slice(1), number.replace(/^./, '8'), 'U'.repeat(26)]) {
    t.is(parseOrderNumber(bad), null);
  }
});

test('An end that another message repeats changes nothing', (t) => {
  const failed: OrderEvent = {
    type: 'PaymentFailed',
    data: { callback: 'standard-c1', reason: 'failed', transaction_id: 't1', at: instantAt(0).toISOString() },
  };
  const order = given(orderAggregate, placed, failed);
  order.when(reportOf({ kind: 'failed' }, 'standard-c2')).thenNothing(t);
  t.deepEqual(order.state.status === 'placed' && order.state.facts.ends, ['failed']);
});

test('An order is open before it is paid or has ended, and in no other status', (t) => {
  t.deepEqual(orderStatusSchema.options.filter(isOpenStatus), ['created', 'pending']);
});
