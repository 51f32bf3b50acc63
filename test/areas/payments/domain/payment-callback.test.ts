import test from 'ava';
import type { PaymentCallbackEvent } from '../../../../src/areas/payments/domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../../../../src/areas/payments/domain/payment-callback/payment-callback.js';
import { conflictsMax, type HoldReason } from '../../../../src/areas/payments/domain/payment.js';
import type { TransactionEvent } from '../../../../src/areas/payments/domain/transaction/events.js';
import { dueAt, whyWaiting } from '../../../../src/areas/payments/domain/transaction/status.js';
import {
  transactionAggregate,
  transactionReportsMax,
} from '../../../../src/areas/payments/domain/transaction/transaction.js';
import { digest, orderId, otherDigest, otherTestId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';

const at = '2026-01-02T03:04:05.000Z';
const callback = {
  ...{
    provider: 'stripe' as const,
    fields_digest: digest,
    is_ours: true,
    notifications: [],
    received_at: at,
  },
};
const receive = { type: 'Receive', callback } as const;
const received: PaymentCallbackEvent = { type: 'PaymentCallbackReceived', data: callback };
const note = { note: sealedExample('why'), note_of: null, note_digest: digest };

type Reported = Extract<TransactionEvent, { type: 'PaymentReported' }>;
const reported = (key: string, order_id: string | null, more: Partial<Reported['data']> = {}): Reported => ({
  type: 'PaymentReported',
  data: {
    ...{ key, digest, is_ours: true, order_id, received_at: at },
    told: [{ order_number: null, transaction_id: 't1', fact: { kind: 'pending' }, at: null }],
    ...more,
  },
});
const report = (...args: Parameters<typeof reported>) =>
  ({ type: 'Report', report: reported(...args).data }) as const;
const unreadable = [
  { order_number: null, transaction_id: 't1', fact: { kind: 'unreadable', field: 'amount' }, at: null },
] as const;
const resolutionOf = (order_id: string | null, report: number) =>
  ({ report, action: order_id === null ? 'dismiss' : 'apply', order_id, ...note }) as const;
const resolve = (order_id: string | null, revision = 0) =>
  ({ type: 'Resolve', resolution: resolutionOf(order_id, revision) }) as const;
const resolved = (order_id: string | null, revision = 0): TransactionEvent => ({
  type: 'PaymentReportResolved',
  data: resolutionOf(order_id, revision),
});

test('A callback is accepted once, and a repetition is a duplicate', (t) => {
  given(paymentCallbackAggregate).when(receive).then(t, received);
});

test('Other content under the same key is recorded once and never applied', (t) => {
  const other = { type: 'Receive', callback: { ...callback, fields_digest: otherDigest } } as const;
  given(paymentCallbackAggregate, received)
    .when(other)
    .then(t, { type: 'PaymentCallbackConflicted', data: { fields_digest: otherDigest } });
  const conflicted: TransactionEvent = {
    type: 'PaymentConflicted',
    data: { key: 'c1', digest: otherDigest },
  };
  given(transactionAggregate, reported('c1', orderId))
    .when(report('c1', orderId, { digest: otherDigest }))
    .then(t, conflicted);
});

test('A stream records at most 10 conflicts, because many contents can match one CRC-32', (t) => {
  const digests = Array.from({ length: conflictsMax }, (_, n) => String(n).padStart(64, '0'));
  const conflicts = digests.map((fields_digest): PaymentCallbackEvent => {
    return { type: 'PaymentCallbackConflicted', data: { fields_digest } };
  });
  const another = { type: 'Receive', callback: { ...callback, fields_digest: otherDigest } } as const;
  given(paymentCallbackAggregate, received, ...conflicts.slice(1))
    .when(another)
    .then(t, { type: 'PaymentCallbackConflicted', data: { fields_digest: otherDigest } });
  given(paymentCallbackAggregate, received, ...conflicts)
    .when(another)
    .thenNothing(t);
  const refused = digests.map((one): TransactionEvent => {
    return { type: 'PaymentConflicted', data: { key: 'c1', digest: one } };
  });
  given(transactionAggregate, reported('c1', orderId), ...refused)
    .when(report('c1', orderId, { digest: otherDigest }))
    .thenNothing(t);
});

test('The first report that names an order links its transaction, and later reports have that order', (t) => {
  given(transactionAggregate).when(report('c1', null)).then(t, reported('c1', null));
  given(transactionAggregate, reported('c1', null))
    .when(report('c2', orderId))
    .then(t, reported('c2', orderId));
  const linked = given(transactionAggregate, reported('c1', null), reported('c2', orderId));
  linked.when(report('c3', null)).then(t, reported('c3', orderId));
  linked.when(report('c1', null)).thenNothing(t);
  // The link makes the report due that waited; every other report is due by itself.
  t.like(dueAt(linked.state, 1), { orderId, isOther: false, reports: [{ key: 'c1' }, { key: 'c2' }] });
  t.like(dueAt(linked.state, 0), { orderId, isOther: false, reports: [{ key: 'c1' }] });
  // A later report of another order is a mismatch there.
  const other = given(transactionAggregate, reported('c1', orderId), reported('c2', otherTestId));
  t.like(dueAt(other.state, 1), { orderId: otherTestId, isOther: true, reports: [{ key: 'c2' }] });
});

test('A report that waits is decided on once, and a decision to apply it is the link', (t) => {
  const waiting = given(transactionAggregate, reported('c1', null), reported('c2', null));
  t.is(dueAt(waiting.state, 0), null);
  waiting.when(resolve(orderId, 1)).then(t, resolved(orderId, 1));
  waiting.when(resolve(null)).then(t, resolved(null));
  const applied = given(
    transactionAggregate,
    reported('c1', null),
    reported('c2', null),
    resolved(orderId, 1),
  );
  t.like(dueAt(applied.state, 2), { orderId, reports: [{ key: 'c1' }, { key: 'c2' }] });
  applied.when(resolve(null, 1)).thenRejected(t, 'payment_callback_resolved');
  applied.when(resolve(orderId, 0)).thenRejected(t, 'payment_callback_not_held');
  const dismissed = given(
    transactionAggregate,
    reported('c1', null),
    resolved(null),
    reported('c2', orderId),
  );
  t.like(dueAt(dismissed.state, 2), { reports: [{ key: 'c2' }] });
  t.is(dueAt(dismissed.state, 0), null);
  given(transactionAggregate).when(resolve(null)).thenRejected(t, 'payment_callback_not_found');
});

test('A report that is unreadable, or that is not kept, can only be dismissed', (t) => {
  const held: TransactionEvent = { type: 'PaymentReportHeld', data: { report: 0 } };
  const histories: readonly (readonly [readonly TransactionEvent[], HoldReason, string])[] = [
    [[reported('c1', null, { told: [...unreadable] })], 'unreadable', 'payment_callback_unreadable'],
    [[reported('c1', null, { is_excess: true })], 'transaction_full', 'payment_callback_full'],
    [[reported('c1', orderId), held], 'order_full', 'payment_callback_full'],
  ];
  for (const [history, reason, code] of histories) {
    const scene = given(transactionAggregate, ...history);
    const [only] = scene.state.reports;
    t.is(only === undefined ? null : whyWaiting(scene.state, only), reason);
    scene.when(resolve(orderId)).thenRejected(t, code);
    scene.when(resolve(null)).then(t, resolved(null));
  }
});

test('An unreadable report makes no link', (t) => {
  const told = [...unreadable];
  given(transactionAggregate)
    .when(report('c1', orderId, { told }))
    .then(t, reported('c1', null, { told }));
});

test('A transaction keeps a limited number of reports, and known ones stay known', (t) => {
  const reports = Array.from({ length: transactionReportsMax }, (_, n) => reported(`c${n}`, null));
  const full = given(transactionAggregate, ...reports);
  full.when(report('new', null)).thenRejected(t, 'transaction_full');
  full.when(report('c7', null)).thenNothing(t);
});
