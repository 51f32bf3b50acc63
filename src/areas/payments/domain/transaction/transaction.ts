import { isDeepStrictEqual } from 'node:util';
import type { Aggregate } from '../../../../event-sourcing/deciding/decider.js';
import { conflictsMax } from '../payment.js';
import {
  type PaymentReport,
  type ReportResolution,
  transactionCodec,
  type TransactionEvent,
  transactionCategory,
} from './events.js';
import { rejectPayment } from './rejections.js';
import {
  evolveTransaction,
  isUnreadable,
  noReports,
  type TransactionReport,
  type TransactionState,
  whyWaiting,
} from './status.js';

export type TransactionCommand =
  | { readonly type: 'Report'; readonly report: PaymentReport }
  | { readonly type: 'Hold'; readonly report: number }
  | { readonly type: 'Resolve'; readonly resolution: ReportResolution };

/** Bounds the stream: docs/decisions/0069-what-waits-in-the-stream-of-a-transaction.md#decision. */
export const transactionReportsMax = 500;

function decide(command: TransactionCommand, state: TransactionState): readonly TransactionEvent[] {
  switch (command.type) {
    case 'Report':
      return accept(command.report, state);
    case 'Hold': {
      const report = reportAt(state, command.report);
      if (report.held !== null || report.decision !== null) return [];
      return [{ type: 'PaymentReportHeld', data: { report: command.report } }];
    }
    case 'Resolve':
      return resolve(command.resolution, state);
  }
}

/** A duplicate appends nothing. Other content under a known key is recorded once, for the first `conflictsMax`. */
function accept(
  report: PaymentReport,
  { link, reports, conflicts }: TransactionState,
): readonly TransactionEvent[] {
  const { key, digest } = report;
  const known = reports.find((one) => one.key === key);
  if (known === undefined) {
    if (reports.length >= transactionReportsMax) {
      rejectPayment('transaction_full', 'too much was reported of this transaction already');
    }
    const isApart = isUnreadable(report) || report.is_excess === true;
    const order_id = isApart ? null : (report.order_id ?? link?.order_id ?? null);
    return [{ type: 'PaymentReported', data: { ...report, order_id } }];
  }
  const isKnown = known.digest === digest || conflicts.some((one) => isDeepStrictEqual(one, { key, digest }));
  if (isKnown || conflicts.length >= conflictsMax) return [];
  return [{ type: 'PaymentConflicted', data: { key, digest } }];
}

/** A repeated decision appends nothing. A different later one is rejected. */
function resolve(resolution: ReportResolution, state: TransactionState): readonly TransactionEvent[] {
  const { action, order_id, note_digest } = resolution;
  const report = reportAt(state, resolution.report);
  if (report.decision !== null) {
    if (isDeepStrictEqual(report.decision, { action, order_id, note_digest })) return [];
    rejectPayment('payment_callback_resolved', 'somebody has decided otherwise on this payment');
  }
  const reason = whyWaiting(state, report);
  if (reason === null) {
    rejectPayment('payment_callback_not_held', 'nothing of this payment waits for a decision');
  }
  if (action === 'apply' && reason === 'unreadable') {
    rejectPayment('payment_callback_unreadable', 'what the platform says cannot be read; dismiss it');
  }
  if (action === 'apply' && report.held !== null) {
    rejectPayment(
      'payment_callback_full',
      'no more reports are kept of it; dismiss it, or record the payment',
    );
  }
  return [{ type: 'PaymentReportResolved', data: resolution }];
}

/** @throws CommandRejected payment_callback_not_found */
export function reportAt({ reports }: TransactionState, revision: number): TransactionReport {
  const found = reports.find((one) => one.revision === revision);
  return found ?? rejectPayment('payment_callback_not_found', 'there is no such payment');
}

export const transactionAggregate: Aggregate<TransactionState, TransactionCommand, TransactionEvent> = {
  category: transactionCategory,
  codec: transactionCodec,
  decider: { initialState: noReports, decide, evolve: evolveTransaction },
};
