import test from 'ava';
import fc from 'fast-check';
import {
  orderAggregate,
  type OrderCommand,
  type ReportedFact,
} from '../../../../src/areas/payments/domain/order/order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import type { PaymentProviderName } from '../../../../src/areas/payments/domain/payment.js';
import { digest, otherDigest, userId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';
import { aReport, eventsAfter, orderAfter } from '../../../support/given/an-order.js';

const note = { note: sealedExample('why'), note_of: userId, note_digest: digest };
const paid = (amount: number, currency = 'USD'): PaymentFact => ({ kind: 'paid', amount, currency });
const refund = (amount: number, currency = 'USD'): PaymentFact => ({
  ...({ kind: 'refund', refund_id: 'r1', status: 'succeeded' } as const),
  ...{ amount, currency },
});
const lost: PaymentFact = { kind: 'dispute', dispute_id: 'd1', status: 'lost' };

type Route = 'ours' | 'merchant' | 'transaction_of_another_order';
/** Returns a report by `standard`, which the order names, or another platform, on the payment that both call `t1`. */
function report(fact: PaymentFact, name: string, route: Route = 'ours', minute = 0): OrderCommand {
  if (route === 'merchant') return elsewhere(fact, name, { minute });
  const mismatch = route === 'ours' ? null : route;
  return tell(aReport(fact, { mismatch, callback: `standard-${name}`, at: at(minute) }));
}
function elsewhere(
  fact: PaymentFact,
  name: string,
  { provider = 'alipay', minute = 0 }: { provider?: PaymentProviderName; minute?: number } = {},
): OrderCommand {
  const of = { provider, mismatch: 'merchant', callback: `${provider}-${name}` } as const;
  return tell(aReport(fact, { ...of, at: at(minute) }));
}
const tell = (report: ReportedFact): OrderCommand => ({ type: 'Report', reports: [report] });
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 2, 4, minute));
const resolve = (
  name: string,
  action: 'apply' | 'dismiss',
  { noteDigest = digest, of = 'standard' }: { noteDigest?: string; of?: PaymentProviderName } = {},
): OrderCommand => ({
  ...{ type: 'ResolveReview', callback: `${of}-${name}`, action },
  note: { ...note, note_digest: noteDigest },
});

test('A payment of another amount counts with its amount once it is applied, and not once it is dismissed', (t) => {
  const wrong = report(paid(998), 'p');
  t.deepEqual(orderAfter(wrong, resolve('p', 'apply')), { status: 'paid', refunded: 0, due: true });
  t.deepEqual(orderAfter(wrong, resolve('p', 'dismiss')), {
    status: 'created',
    refunded: 0,
    due: false,
  });
  // A refund of the paid amount is a full refund, although the order's amount differs.
  const back = report(refund(998), 'b');
  t.deepEqual(orderAfter(wrong, resolve('p', 'apply'), back), {
    ...{ status: 'refunded', refunded: 998, due: false },
  });
  t.like(orderAfter(wrong, back, resolve('p', 'apply')), { status: 'refunded', due: false });
  t.deepEqual(orderAfter(wrong, resolve('p', 'dismiss'), back), {
    ...{ status: 'created', refunded: 0, due: false },
  });
});

test('An applied payment of 0 stays paid, because no refund of it is possible', (t) => {
  const applied = [report(paid(0), 'p'), resolve('p', 'apply')];
  t.deepEqual(orderAfter(...applied), { status: 'paid', refunded: 0, due: true });
  t.deepEqual(orderAfter(...applied, report(refund(5), 'b')), {
    status: 'paid',
    refunded: 0,
    due: true,
  });
});

test('A refund of a payment in another currency counts as the same share of the order’s amount', (t) => {
  const applied = [report(paid(7_000, 'JPY'), 'p'), resolve('p', 'apply')];
  t.like(orderAfter(...applied, report(refund(3_500, 'JPY'), 'b')), {
    ...{ status: 'partially_refunded', refunded: 500, due: true },
  });
  t.like(orderAfter(...applied, report(refund(7_000, 'JPY'), 'b')), {
    ...{ status: 'refunded', refunded: 999, due: false },
  });
  // The exact result is a little less than 363.5 cents. The product of the figures is not a safe integer.
  const much = [report(paid(9_007_199_254_740_991, 'JPY'), 'p'), resolve('p', 'apply')];
  t.like(orderAfter(...much, report(refund(3_277_394_323_421_772, 'JPY'), 'b')), { refunded: 363 });
  // A refund in JPY does not refund the payment in USD.
  t.like(orderAfter(...applied, report(paid(999), 'q'), report(refund(7_000, 'JPY'), 'b')), {
    ...{ status: 'partially_refunded', due: true },
  });
});

test('What moves no money, of another account or order, changes nothing and waits for no operator', (t) => {
  for (const kind of ['pending', 'unpaid', 'failed', 'expired', 'canceled'] as const)
    for (const route of ['merchant', 'transaction_of_another_order'] as const)
      t.deepEqual(eventsAfter(report({ kind }, 'p', route)).slice(1), [], `${kind} ${route}`);
});

test('Only a payment is applied, and only one whose transaction pays no other order', (t) => {
  const others: readonly [PaymentFact, Route][] = [
    [refund(5, 'JPY'), 'ours'],
    [refund(5), 'merchant'],
    [{ kind: 'refunded-in-total', amount: 5, currency: 'USD' }, 'merchant'],
    [lost, 'merchant'],
    [paid(999), 'transaction_of_another_order'],
  ];
  for (const [fact, route] of others) {
    const of = route === 'merchant' ? 'alipay' : 'standard';
    const events = eventsAfter(report(fact, 'p', route));
    t.is(events.length, 2, JSON.stringify(fact));
    given(orderAggregate, ...events)
      .when(resolve('p', 'apply', { of }))
      .thenRejected(t, 'review_not_applicable');
    t.like(orderAfter(report(fact, 'p', route), resolve('p', 'dismiss', { of })), {
      status: 'created',
      due: false,
    });
  }
});

test('A repeated decision changes nothing, and a different one or one without an open review is refused', (t) => {
  const waiting = given(orderAggregate, ...eventsAfter(report(paid(998), 'p')));
  waiting
    .when(resolve('p', 'apply'))
    .then(t, { type: 'ReviewResolved', data: { callback: 'standard-p', action: 'apply', ...note } });
  waiting.when(resolve('q', 'apply')).thenRejected(t, 'review_not_open');
  const decided = given(orderAggregate, ...eventsAfter(report(paid(998), 'p'), resolve('p', 'apply')));
  decided.when(resolve('p', 'apply')).thenNothing(t);
  decided.when(resolve('p', 'dismiss')).thenRejected(t, 'review_resolved');
  decided.when(resolve('p', 'apply', { noteDigest: otherDigest })).thenRejected(t, 'review_resolved');
});

test('A decision holds for another report of the same payment, but not for another amount', (t) => {
  for (const action of ['apply', 'dismiss'] as const) {
    const both = orderAfter(report(paid(998), 'p'), report(paid(998), 'q'), resolve('p', action));
    t.not(both.status, 'review');
    t.not(orderAfter(report(paid(998), 'p'), resolve('p', action), report(paid(998), 'q')).status, 'review');
    t.is(orderAfter(report(paid(998), 'p'), report(paid(1), 'q'), resolve('p', action)).status, 'review');
    t.is(orderAfter(report(paid(998), 'p'), resolve('p', action), report(paid(1), 'q')).status, 'review');
  }
});

test('A decision on one platform’s payment does not hold for a payment of the same name on another platform', (t) => {
  const of = { provider: 'epay' } as const;
  for (const action of ['apply', 'dismiss'] as const) {
    const decided = [elsewhere(paid(999), 'p'), resolve('p', action, { of: 'alipay' })];
    t.not(orderAfter(...decided, elsewhere(paid(999), 'again')).status, 'review');
    // The other report arrives after the decision, before it, and from the order's own platform.
    t.is(orderAfter(...decided, elsewhere(paid(999), 'q', of)).status, 'review');
    t.is(orderAfter(elsewhere(paid(999), 'q', of), ...decided).status, 'review');
    t.is(orderAfter(...decided, elsewhere(lost, 'q', of)).status, 'review');
    t.is(orderAfter(...decided, report(refund(5, 'JPY'), 'q')).status, 'review');
  }
});

test('Payments of the same name on two platforms are refunded and disputed separately', (t) => {
  const other = report(paid(999), 'p', 'merchant');
  const both = [report(paid(999), 'own'), other, resolve('p', 'apply', { of: 'alipay' })];
  const half = { status: 'partially_refunded', due: true } as const;
  t.like(orderAfter(...both, report(refund(999), 'b')), half);
  t.like(orderAfter(...both, report(refund(999), 'b', 'merchant')), half);
  t.like(orderAfter(...both, report(lost, 'd'), report(refund(999), 'b')), { due: true });
  t.like(orderAfter(...both, report(lost, 'd', 'merchant')), { status: 'disputed', due: true });
  t.like(orderAfter(...both, report(refund(999), 'b'), report(refund(999), 'c', 'merchant')), {
    ...{ status: 'refunded', refunded: 2 * 999, due: false },
  });
});

test('Each report of a transaction that pays another order needs a review', (t) => {
  const elsewhere = (name: string): OrderCommand => report(paid(999), name, 'transaction_of_another_order');
  t.is(orderAfter(elsewhere('p'), resolve('p', 'dismiss'), elsewhere('q')).status, 'review');
  t.is(orderAfter(elsewhere('p'), elsewhere('q'), resolve('p', 'dismiss')).status, 'review');
});

const moneyFact: fc.Arbitrary<PaymentFact> = fc.oneof(
  fc.record({
    kind: fc.constant('refunded-in-total' as const),
    amount: fc.constantFrom(0, 300, 7_000),
    currency: fc.constant('JPY'),
  }),
  fc.record({
    kind: fc.constant('refund' as const),
    refund_id: fc.constantFrom('r1', 'r2'),
    status: fc.constantFrom('pending' as const, 'succeeded' as const, 'failed' as const),
    amount: fc.constantFrom(300, 7_000),
    currency: fc.constant('JPY'),
  }),
  fc.record({
    kind: fc.constant('dispute' as const),
    dispute_id: fc.constantFrom('d1', 'd2'),
    status: fc.constantFrom('open' as const, 'won' as const, 'lost' as const),
  }),
);

test('Refunds and disputes count alike before and after the decision', (t) => {
  const property = fc.property(
    fc.constantFrom<Route>('ours', 'merchant'),
    fc.constantFrom('apply' as const, 'dismiss' as const),
    fc.array(fc.tuple(moneyFact, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 5 }),
    fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })),
    (route, action, facts, [heard, decided]) => {
      const told = facts.map(([fact, minute], n) => report(fact, `m${n}`, route, minute));
      const payment = report(paid(7_000, 'JPY'), 'p', route);
      const decision = resolve('p', action, { of: route === 'merchant' ? 'alipay' : 'standard' });
      const [first, last] = [Math.min(heard, decided), Math.max(heard, decided)];
      const mixed = told.toSpliced(first, 0, payment).toSpliced(last + 1, 0, decision);
      const plain = orderAfter(payment, decision, ...told);
      t.deepEqual(orderAfter(...mixed), plain);
      if (action === 'dismiss') t.deepEqual(plain, { status: 'created', refunded: 0, due: false });
      else t.not(plain.status, 'review');
    },
  );
  fc.assert(property, { numRuns: 300, seed: 20_260_102 });
});
