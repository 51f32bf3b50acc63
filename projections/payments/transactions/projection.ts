import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { reportName } from '../../../src/areas/payments/domain/payment-ids.js';
import {
  transactionCodec,
  type TransactionEvent,
  transactionCategory,
} from '../../../src/areas/payments/domain/transaction/events.js';
import {
  evolveTransaction,
  noReports,
  type TransactionState,
  whyWaiting,
} from '../../../src/areas/payments/domain/transaction/status.js';
import { type DecisionEntry, decisionOf } from '../payment-decisions/entry.js';

/** What was reported of a transaction, or one report that has none. */
export type TransactionDocument = TransactionState & {
  /** The platform's id; null where no report names it. */
  readonly transaction_id: string | null;
  /** The time of receipt of the oldest report that waits; null if none does. */
  readonly unmatched_since: string | null;
  /** The order that an operator's decision applied a report to; null otherwise. */
  readonly applied_to: string | null;
  /** The decisions of operators on its reports. */
  readonly decisions: readonly DecisionEntry[];
};

const nothingYet: TransactionDocument = {
  ...{ ...noReports, transaction_id: null, unmatched_since: null, applied_to: null, decisions: [] },
};

function evolve(
  document: TransactionDocument | null,
  event: Recorded<TransactionEvent>,
): TransactionDocument {
  const before = document ?? nothingYet;
  const state = evolveTransaction(before, event);
  const after = { ...before, ...state };
  const waiting = after.reports.find((report) => whyWaiting(after, report) !== null);
  return {
    ...after,
    transaction_id: after.reports[0]?.told[0]?.transaction_id ?? null,
    unmatched_since: waiting?.received_at ?? null,
    ...decidedBy(before, event),
  };
}

function decidedBy(
  { decisions }: TransactionDocument,
  event: Recorded<TransactionEvent>,
): Partial<TransactionDocument> {
  if (event.type !== 'PaymentReportResolved') return {};
  const { report, order_id } = event.data;
  const payment_id = reportName(event.stream.slice(transactionCategory.length + 1), report);
  return {
    decisions: [...decisions, decisionOf(event, { ...event.data, payment_id })],
    ...(order_id === null ? {} : { applied_to: order_id }),
  };
}

export const transactionsProjection: Projection<TransactionDocument, TransactionEvent> = {
  name: 'payment_transactions',
  version: 1,
  category: transactionCategory,
  codec: transactionCodec,
  indexes: ['unmatched_since', 'applied_to', 'transaction_id'],
  evolve,
};
