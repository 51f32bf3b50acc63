import test from 'ava';
import fc from 'fast-check';
import type { OrderEvent } from '../../../../src/areas/payments/domain/order/events.js';
import {
  isDue,
  orderAggregate,
  type OrderCommand,
  type OrderState,
  orderStatus,
  refundedAmount,
} from '../../../../src/areas/payments/domain/order/order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import type { PaymentProviderName } from '../../../../src/areas/payments/domain/payment.js';
import { digest, otherDigest, userId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';

const placed: OrderEvent = {
  type: 'OrderPlaced',
  data: {
    ...{ user_id: userId, project_id: null, plan_id: 'capacity-100g', grant: { capacity_bytes: 5 } },
    ...{ provider: 'standard', amount: 999, currency: 'USD', expires_at: '2026-01-03T03:04:05.000Z' },
  },
};
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
  const of = { provider: 'standard', mismatch: route === 'ours' ? null : route } as const;
  const told = { ...of, callback: `standard-${name}`, transactionId: 't1', fact, at: at(minute) };
  return { type: 'Report', reports: [told] };
}
function elsewhere(
  fact: PaymentFact,
  name: string,
  { provider = 'alipay', minute = 0 }: { provider?: PaymentProviderName; minute?: number } = {},
): OrderCommand {
  const of = { provider, mismatch: 'merchant' } as const;
  const told = { ...of, callback: `${provider}-${name}`, transactionId: 't1', fact, at: at(minute) };
  return { type: 'Report', reports: [told] };
}
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 2, 4, minute));
const resolve = (
  name: string,
  action: 'apply' | 'dismiss',
  { noteDigest = digest, of = 'standard' }: { noteDigest?: string; of?: PaymentProviderName } = {},
): OrderCommand => ({
  ...{ type: 'ResolveReview', callback: `${of}-${name}`, action },
  note: { ...note, note_digest: noteDigest },
});

/** Returns the events of the order after the commands. Each command decides on the events of the earlier ones. */
function eventsOf(...commands: readonly OrderCommand[]): readonly OrderEvent[] {
  const events: OrderEvent[] = [placed];
  for (const command of commands) {
    events.push(...orderAggregate.decider.decide(command, given(orderAggregate, ...events).state));
  }
  return events;
}
const after = (...commands: readonly OrderCommand[]): OrderState =>
  given(orderAggregate, ...eventsOf(...commands)).state;

function seen(state: OrderState) {
  if (state.status === 'absent') throw new Error('there is no order');
  return { status: orderStatus(state), refunded: refundedAmount(state), due: isDue(state) };
}

test('A payment of another amount counts with its amount once it is applied, and not once it is dismissed', (t) => {
  const wrong = report(paid(998), 'p');
  t.deepEqual(seen(after(wrong, resolve('p', 'apply'))), { status: 'paid', refunded: 0, due: true });
  t.deepEqual(seen(after(wrong, resolve('p', 'dismiss'))), { status: 'created', refunded: 0, due: false });
  // A refund of the paid amount is a full refund, although the order's amount differs.
  const back = report(refund(998), 'b');
  t.deepEqual(seen(after(wrong, resolve('p', 'apply'), back)), {
    ...{ status: 'refunded', refunded: 998, due: false },
  });
  t.like(seen(after(wrong, back, resolve('p', 'apply'))), { status: 'refunded', due: false });
  t.deepEqual(seen(after(wrong, resolve('p', 'dismiss'), back)), {
    ...{ status: 'created', refunded: 0, due: false },
  });
});

test('An applied payment of 0 stays paid, because no refund of it is possible', (t) => {
  const applied = [report(paid(0), 'p'), resolve('p', 'apply')];
  t.deepEqual(seen(after(...applied)), { status: 'paid', refunded: 0, due: true });
  t.deepEqual(seen(after(...applied, report(refund(5), 'b'))), { status: 'paid', refunded: 0, due: true });
});

test('A refund of a payment in another currency counts as the same share of the order’s amount', (t) => {
  const applied = [report(paid(7_000, 'JPY'), 'p'), resolve('p', 'apply')];
  t.like(seen(after(...applied, report(refund(3_500, 'JPY'), 'b'))), {
    ...{ status: 'partially_refunded', refunded: 500, due: true },
  });
  t.like(seen(after(...applied, report(refund(7_000, 'JPY'), 'b'))), {
    ...{ status: 'refunded', refunded: 999, due: false },
  });
  // The exact result is a little less than 363.5 cents. The product of the figures is not a safe integer.
  const much = [report(paid(9_007_199_254_740_991, 'JPY'), 'p'), resolve('p', 'apply')];
  t.like(seen(after(...much, report(refund(3_277_394_323_421_772, 'JPY'), 'b'))), { refunded: 363 });
  // A refund in JPY does not refund the payment in USD.
  t.like(seen(after(...applied, report(paid(999), 'q'), report(refund(7_000, 'JPY'), 'b'))), {
    ...{ status: 'partially_refunded', due: true },
  });
});

test('What moves no money, of another account or order, changes nothing and waits for no operator', (t) => {
  for (const kind of ['pending', 'unpaid', 'failed', 'expired', 'canceled'] as const)
    for (const route of ['merchant', 'transaction_of_another_order'] as const)
      t.deepEqual(eventsOf(report({ kind }, 'p', route)).slice(1), [], `${kind} ${route}`);
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
    const events = eventsOf(report(fact, 'p', route));
    t.is(events.length, 2, JSON.stringify(fact));
    given(orderAggregate, ...events)
      .when(resolve('p', 'apply', { of }))
      .thenRejected(t, 'review_not_applicable');
    t.like(seen(after(report(fact, 'p', route), resolve('p', 'dismiss', { of }))), {
      status: 'created',
      due: false,
    });
  }
});

test('A repeated decision changes nothing, and a different one or one without an open review is refused', (t) => {
  const waiting = given(orderAggregate, ...eventsOf(report(paid(998), 'p')));
  waiting
    .when(resolve('p', 'apply'))
    .then(t, { type: 'ReviewResolved', data: { callback: 'standard-p', action: 'apply', ...note } });
  waiting.when(resolve('q', 'apply')).thenRejected(t, 'review_not_open');
  const decided = given(orderAggregate, ...eventsOf(report(paid(998), 'p'), resolve('p', 'apply')));
  decided.when(resolve('p', 'apply')).thenNothing(t);
  decided.when(resolve('p', 'dismiss')).thenRejected(t, 'review_resolved');
  decided.when(resolve('p', 'apply', { noteDigest: otherDigest })).thenRejected(t, 'review_resolved');
});

test('A decision holds for another report of the same payment, but not for another amount', (t) => {
  for (const action of ['apply', 'dismiss'] as const) {
    const both = after(report(paid(998), 'p'), report(paid(998), 'q'), resolve('p', action));
    t.not(seen(both).status, 'review');
    t.not(seen(after(report(paid(998), 'p'), resolve('p', action), report(paid(998), 'q'))).status, 'review');
    t.is(seen(after(report(paid(998), 'p'), report(paid(1), 'q'), resolve('p', action))).status, 'review');
    t.is(seen(after(report(paid(998), 'p'), resolve('p', action), report(paid(1), 'q'))).status, 'review');
  }
});

test('A decision on one platform’s payment does not hold for a payment of the same name on another platform', (t) => {
  const of = { provider: 'epay' } as const;
  for (const action of ['apply', 'dismiss'] as const) {
    const decided = [elsewhere(paid(999), 'p'), resolve('p', action, { of: 'alipay' })];
    t.not(seen(after(...decided, elsewhere(paid(999), 'again'))).status, 'review');
    // The other report arrives after the decision, before it, and from the order's own platform.
    t.is(seen(after(...decided, elsewhere(paid(999), 'q', of))).status, 'review');
    t.is(seen(after(elsewhere(paid(999), 'q', of), ...decided)).status, 'review');
    t.is(seen(after(...decided, elsewhere(lost, 'q', of))).status, 'review');
    t.is(seen(after(...decided, report(refund(5, 'JPY'), 'q'))).status, 'review');
  }
});

test('Payments of the same name on two platforms are refunded and disputed separately', (t) => {
  const both = [
    report(paid(999), 'own'),
    report(paid(999), 'p', 'merchant'),
    resolve('p', 'apply', { of: 'alipay' }),
  ];
  t.like(seen(after(...both, report(refund(999), 'b'))), { status: 'partially_refunded', due: true });
  t.like(seen(after(...both, report(refund(999), 'b', 'merchant'))), {
    status: 'partially_refunded',
    due: true,
  });
  t.like(seen(after(...both, report(lost, 'd'), report(refund(999), 'b'))), { due: true });
  t.like(seen(after(...both, report(lost, 'd', 'merchant'))), { status: 'disputed', due: true });
  t.like(seen(after(...both, report(refund(999), 'b'), report(refund(999), 'c', 'merchant'))), {
    ...{ status: 'refunded', refunded: 2 * 999, due: false },
  });
});

test('Each report of a transaction that pays another order needs a review', (t) => {
  const elsewhere = (name: string): OrderCommand => report(paid(999), name, 'transaction_of_another_order');
  t.is(seen(after(elsewhere('p'), resolve('p', 'dismiss'), elsewhere('q'))).status, 'review');
  t.is(seen(after(elsewhere('p'), elsewhere('q'), resolve('p', 'dismiss'))).status, 'review');
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
      const mixed = [
        ...told.slice(0, first),
        payment,
        ...told.slice(first, last),
        decision,
        ...told.slice(last),
      ];
      const plain = seen(after(payment, decision, ...told));
      t.deepEqual(seen(after(...mixed)), plain);
      if (action === 'dismiss') t.deepEqual(plain, { status: 'created', refunded: 0, due: false });
      else t.not(plain.status, 'review');
    },
  );
  fc.assert(property, { numRuns: 300, seed: 20_260_102 });
});
