import test from 'ava';
import fc from 'fast-check';
import { ordersProjection, type OrderDocument } from '../../projections/payments/orders/projection.js';
import { transactionsProjection } from '../../projections/payments/transactions/projection.js';
import type { DecisionEntry } from '../../projections/payments/payment-decisions/reader.js';
import type { OrderEvent } from '../../src/areas/payments/domain/order/events.js';
import {
  orderAggregate,
  type OrderCommand,
  orderStatus,
  refundedAmount,
  unusedPayments,
} from '../../src/areas/payments/domain/order/order.js';
import type { TransactionEvent } from '../../src/areas/payments/domain/transaction/events.js';
import type { PaymentFact } from '../../src/areas/payments/domain/fact.js';
import { CommandRejected } from '../../src/event-sourcing/ports/errors.js';
import { foldEvents } from '../../src/event-sourcing/views/projection.js';
import { digest, orderId, userId } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import { given } from '../support/given/given.js';
import { firstEventAt, recordEvents } from '../support/given/given-events.js';
import { givenProjection } from '../support/given/given-projection.js';

const placed: OrderEvent = {
  type: 'OrderPlaced',
  data: {
    ...{ user_id: userId, project_id: null, plan_id: 'capacity-100g', grant: { capacity_bytes: 5 } },
    ...{ provider: 'standard', amount: 999, currency: 'USD', expires_at: '2026-01-03T03:04:05.000Z' },
  },
};
const order = placed.data;
const at = '2026-01-02T04:00:00.000Z';
const later = '2026-01-02T04:00:01.000Z';
const money = { amount: 999, currency: 'USD' };
const note = { note: sealedExample('why'), note_of: userId, note_digest: digest };
/** Returns the entry of a document for an applied decision. */
const decided = (what: Pick<DecisionEntry, 'payment_id' | 'order_id'>, at: string): DecisionEntry => ({
  ...{ ...what, action: 'apply', note: note.note, note_of: userId },
  ...{ decided_by: 'anonymous', decided_at: at },
});
const resolve = (callback: string, action: 'apply' | 'dismiss'): OrderCommand => ({
  ...{ type: 'ResolveReview', callback, action, note },
});
const report = (fact: PaymentFact, callback: string, minute = 0, transactionId = 't1') => ({
  type: 'Report' as const,
  reports: [
    {
      ...{ callback, transactionId, provider: 'standard' as const, mismatch: null, fact },
      at: new Date(Date.UTC(2026, 0, 2, 4, minute)),
    },
  ],
});

const fresh: OrderDocument = {
  ...(order as Omit<OrderDocument, 'facts'>),
  facts: { is_pending: false, ends: [], is_withdrawn: false, attempts: [], transactions: [] },
  is_granted: false,
  status: 'created',
  refunded_amount: 0,
  paid_at: null,
  payments: [],
  seen: [],
  mismatches: [],
  decided: [],
  captures: [],
  gone: null,
  dismissed: [],
  decisions: [],
  open_for: userId,
  in_review: null,
  created_at: firstEventAt,
  updated_at: firstEventAt,
};

test('A placed order is open in the view', (t) => givenProjection(ordersProjection, placed).then(t, fresh));

test('A payment in review shows its mismatch, and an applied one is paid', (t) => {
  const paidLess = { kind: 'paid', amount: 5, currency: 'USD' } as const;
  const mismatch: OrderEvent = {
    type: 'PaymentMismatchFound',
    data: {
      callback: 'standard-c1',
      provider: 'standard',
      reason: 'amount',
      transaction_id: 't1',
      fact: paidLess,
      at,
    },
  };
  const resolved: OrderEvent = {
    type: 'ReviewResolved',
    data: { callback: 'standard-c1', action: 'apply', ...note },
  };
  const payment = { provider: 'standard', transaction_id: 't1', amount: 5, currency: 'USD', at } as const;
  const inReview: OrderDocument = {
    ...fresh,
    status: 'review',
    payments: [{ ...payment, kind: 'mismatch' }],
    mismatches: [
      { id: 'standard-c1', provider: 'standard', reason: 'amount', transaction_id: 't1', fact: paidLess, at },
    ],
    seen: ['PaymentMismatchFound/standard-c1'],
    open_for: null,
    in_review: 'yes',
    updated_at: '2026-01-02T03:04:06.000Z',
  };
  givenProjection(ordersProjection, placed, mismatch).then(t, inReview);
  givenProjection(ordersProjection, placed, mismatch, resolved).then(t, {
    ...inReview,
    facts: {
      ...fresh.facts,
      transactions: [
        {
          id: 'standard/t1',
          ledgers: [{ currency: 'USD', captured: 5, refunds: [], refunded_in_total: null }],
          disputes: [],
        },
      ],
    },
    status: 'paid',
    paid_at: at,
    payments: [
      { ...payment, kind: 'mismatch' },
      { ...payment, kind: 'applied', at: '2026-01-02T03:04:07.000Z' },
    ],
    mismatches: [],
    captures: [
      {
        ...{ id: 'standard-c1', provider: 'standard', transaction: 'standard/t1', transaction_id: 't1' },
        ...{ amount: 5, currency: 'USD', at, is_applied: true },
      },
    ],
    decided: [{ transaction: 'standard/t1', payments: [{ amount: 5, currency: 'USD' }] }],
    decisions: [decided({ payment_id: 'standard-c1', order_id: 'example' }, '2026-01-02T03:04:07.000Z')],
    seen: ['PaymentMismatchFound/standard-c1', 'ReviewResolved/standard-c1'],
    in_review: null,
    updated_at: '2026-01-02T03:04:07.000Z',
  });
});

test('An order is paid at the time of its first payment, in either order of arrival', (t) => {
  const captured = (callback: string, transaction_id: string, when: string): OrderEvent => ({
    type: 'PaymentCaptured',
    data: { callback, transaction_id, ...money, at: when },
  });
  const events = [captured('standard-c1', 't1', later), captured('standard-c2', 't2', at)];
  for (const order of [events, events.toReversed()]) {
    const document = foldEvents(
      ordersProjection,
      null,
      recordEvents(ordersProjection, orderId, [placed, ...order]),
    );
    t.like(document === 'gap' ? null : document?.body, { status: 'paid', paid_at: at, open_for: null });
  }
});

test('The document of an order keeps the last hundred reports', (t) => {
  const pending = (n: number): OrderEvent => ({
    type: 'PaymentPending',
    data: { callback: `standard-c${n}`, transaction_id: `t${n}`, at },
  });
  const events = [placed, ...Array.from({ length: 105 }, (_, n) => pending(n))];
  const document = foldEvents(ordersProjection, null, recordEvents(ordersProjection, orderId, events));
  const payments = (document === 'gap' ? null : document?.body)?.['payments'] as OrderDocument['payments'];
  t.is(payments.length, 100);
  t.is(payments.at(-1)?.transaction_id, 't104');
});

const fact: fc.Arbitrary<PaymentFact> = fc.oneof(
  fc.constantFrom<PaymentFact>(
    { kind: 'pending' },
    { kind: 'failed' },
    { kind: 'paid', ...money },
    { kind: 'paid', amount: 1, currency: 'USD' },
    { kind: 'refunded-in-total', amount: 300, currency: 'USD' },
    { kind: 'refund', refund_id: 'r1', status: 'succeeded', amount: 300, currency: 'USD' },
    { kind: 'refund', refund_id: 'r1', status: 'failed', amount: 300, currency: 'USD' },
    { kind: 'dispute', dispute_id: 'd1', status: 'open' },
    { kind: 'dispute', dispute_id: 'd1', status: 'lost' },
  ),
);
/** Returns true for every fourth message, which comes from another platform than that of the order. */
const isElsewhere = (n: number): boolean => n % 4 === 0;
const nameAt = (n: number): string => `${isElsewhere(n) ? 'alipay' : 'standard'}-c${n}`;
const commands: fc.Arbitrary<readonly OrderCommand[]> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fact, fc.integer({ min: 0, max: 3 }), fc.constantFrom('t1', 't2')) },
      fc.constantFrom('MarkFulfilled' as const, 'MarkRevoked' as const),
      { weight: 3, arbitrary: fc.tuple(fc.nat({ max: 5 }), fc.constantFrom('apply', 'dismiss')) },
    ),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map((item, n): OrderCommand => {
      if (typeof item === 'string') return { type: item };
      if (item.length === 2) return resolve(nameAt(item[0]), item[1]);
      const told = report(item[0], nameAt(n), item[1], item[2]);
      if (!isElsewhere(n)) return told;
      const reports = told.reports.map(
        (one) => ({ ...one, provider: 'alipay', mismatch: 'merchant' }) as const,
      );
      return { ...told, reports };
    }),
  );

test('The view of an order agrees with its aggregate after all reports', (t) => {
  let decisions = 0;
  const property = fc.property(commands, (list) => {
    const events: OrderEvent[] = [placed];
    let order = given(orderAggregate, placed);
    for (const command of list) {
      try {
        const decided = orderAggregate.decider.decide(command, order.state);
        events.push(...decided);
        order = order.and(...decided);
      } catch (error) {
        if (!(error instanceof CommandRejected)) throw error;
      }
    }
    const { state } = order;
    if (state.status === 'absent') return t.fail();
    if (state.resolved.size > 0) decisions += 1;
    const document = foldEvents(ordersProjection, null, recordEvents(ordersProjection, orderId, events));
    const body = document === 'gap' ? null : (JSON.parse(JSON.stringify(document?.body)) as OrderDocument);
    t.like(body, {
      status: orderStatus(state),
      refunded_amount: refundedAmount(state),
      is_granted: state.is_granted,
      in_review: state.mismatches.length > 0 || unusedPayments(state).length > 0 ? 'yes' : null,
    });
  });
  fc.assert(property, { numRuns: 300, seed: 20_260_102 });
  t.true(decisions > 20, `${decisions}`);
});

test('The view of a transaction shows since when a report waits, until it has an order or a decision', (t) => {
  const [first, second] = ['2026-01-02T03:04:05.000Z', '2026-01-02T03:04:06.000Z'];
  const reported = (key: string, received_at: string, order_id: string | null): TransactionEvent => ({
    type: 'PaymentReported',
    data: {
      ...{ key, digest, is_ours: true, order_id, received_at },
      notifications: [
        {
          order_number: null,
          transaction_id: 't1',
          fact: { kind: 'paid', amount: 999, currency: 'USD' },
          at: null,
        },
      ],
    },
  });
  const dismissed: TransactionEvent = {
    type: 'PaymentReportResolved',
    data: { report: 0, action: 'dismiss', order_id: null, ...note },
  };
  const documentOf = (...events: readonly TransactionEvent[]) => {
    const folded = foldEvents(
      transactionsProjection,
      null,
      recordEvents(transactionsProjection, 'x', events),
    );
    return folded === 'gap' ? null : folded?.body;
  };
  const waiting = [reported('c1', first, null), reported('c2', second, null)] as const;
  t.like(documentOf(...waiting), { unmatched_since: first, transaction_id: 't1' });
  t.like(documentOf(...waiting, dismissed), { unmatched_since: second, applied_to: null });
  const entry = { payment_id: 'x@0', action: 'dismiss', order_id: null };
  t.like(documentOf(...waiting, dismissed), { decisions: [entry] });
  t.like(documentOf(...waiting, reported('c3', second, orderId)), { unmatched_since: null });
});
