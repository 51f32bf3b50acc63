import test from 'ava';
import { conflictsMax, type HoldReason } from '../../../../src/areas/payments/domain/payment.js';
import type { TransactionEvent } from '../../../../src/areas/payments/domain/transaction/events.js';
import { applicableAt, whyPending } from '../../../../src/areas/payments/domain/transaction/fold.js';
import {
  transactionAggregate,
  transactionReportsMax,
} from '../../../../src/areas/payments/domain/transaction/transaction.js';
import { digest, orderId, otherDigest, otherTestId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';

const at = '2026-01-02T03:04:05.000Z';
const paid = { kind: 'paid', amount: 999, currency: 'USD' } as const;
const note = { note: sealedExample('why'), note_of: null, note_digest: digest };

type Reported = Extract<TransactionEvent, { type: 'PaymentReported' }>;
const reported = (key: string, order_id: string | null, more: Partial<Reported['data']> = {}): Reported => ({
  type: 'PaymentReported',
  data: {
    ...{ key, digest, is_ours: true, order_id, received_at: at },
    notifications: [{ order_number: null, transaction_id: 't1', fact: paid, at: null }],
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

test('Other content under a known key is recorded once, for the first 10 contents, and never applied', (t) => {
  const refused = Array.from({ length: conflictsMax }, (_, n): TransactionEvent => {
    return { type: 'PaymentConflicted', data: { key: 'c1', digest: String(n).padStart(64, '0') } };
  });
  const again = report('c1', orderId, { digest: otherDigest });
  given(transactionAggregate, reported('c1', orderId), ...refused.slice(1))
    .when(again)
    .then(t, { type: 'PaymentConflicted', data: { key: 'c1', digest: otherDigest } });
  given(transactionAggregate, reported('c1', orderId), ...refused)
    .when(again)
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
  // The link makes the pending report applicable; every other report is applicable by itself.
  t.like(applicableAt(linked.state, 1), { orderId, isOther: false, reports: [{ key: 'c1' }, { key: 'c2' }] });
  t.like(applicableAt(linked.state, 0), { orderId, isOther: false, reports: [{ key: 'c1' }] });
  // A later report of another order is a mismatch there.
  const other = given(transactionAggregate, reported('c1', orderId), reported('c2', otherTestId));
  t.like(applicableAt(other.state, 1), { orderId: otherTestId, isOther: true, reports: [{ key: 'c2' }] });
});

test('A report that waits is decided on once, and a decision to apply it is the link', (t) => {
  const waiting = given(transactionAggregate, reported('c1', null), reported('c2', null));
  t.is(applicableAt(waiting.state, 0), null);
  waiting.when(resolve(orderId, 1)).then(t, resolved(orderId, 1));
  waiting.when(resolve(null)).then(t, resolved(null));
  const applied = given(
    transactionAggregate,
    reported('c1', null),
    reported('c2', null),
    resolved(orderId, 1),
  );
  t.like(applicableAt(applied.state, 2), { orderId, reports: [{ key: 'c1' }, { key: 'c2' }] });
  applied.when(resolve(null, 1)).thenRejected(t, 'payment_callback_resolved');
  applied.when(resolve(orderId, 0)).thenRejected(t, 'payment_callback_not_held');
  const dismissed = given(
    transactionAggregate,
    reported('c1', null),
    resolved(null),
    reported('c2', orderId),
  );
  t.like(applicableAt(dismissed.state, 2), { reports: [{ key: 'c2' }] });
  t.is(applicableAt(dismissed.state, 0), null);
  given(transactionAggregate).when(resolve(null)).thenRejected(t, 'payment_callback_not_found');
});

test('A report that is unreadable, or that is not kept, can only be dismissed', (t) => {
  const held: TransactionEvent = { type: 'PaymentReportHeld', data: { report: 0 } };
  const histories: readonly (readonly [readonly TransactionEvent[], HoldReason, string])[] = [
    [[reported('c1', null, { notifications: [...unreadable] })], 'unreadable', 'payment_callback_unreadable'],
    [[reported('c1', null, { is_excess: true })], 'transaction_full', 'payment_callback_full'],
    [[reported('c1', orderId), held], 'order_full', 'payment_callback_full'],
  ];
  for (const [history, reason, code] of histories) {
    const scene = given(transactionAggregate, ...history);
    const [only] = scene.state.reports;
    t.is(only === undefined ? null : whyPending(scene.state, only), reason);
    scene.when(resolve(orderId)).thenRejected(t, code);
    scene.when(resolve(null)).then(t, resolved(null));
  }
});

test('An unreadable report makes no link', (t) => {
  const notifications = [...unreadable];
  given(transactionAggregate)
    .when(report('c1', orderId, { notifications }))
    .then(t, reported('c1', null, { notifications }));
});

test('A transaction keeps a limited number of reports, and known ones stay known', (t) => {
  const reports = Array.from({ length: transactionReportsMax }, (_, n) => reported(`c${n}`, null));
  const full = given(transactionAggregate, ...reports);
  full.when(report('new', null)).thenRejected(t, 'transaction_full');
  full.when(report('c7', null)).thenNothing(t);
});
