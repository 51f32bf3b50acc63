import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { reportName } from '../../../src/areas/payments/domain/payment.js';
import {
  transactionCodec,
  type TransactionEvent,
  transactionCategory,
} from '../../../src/areas/payments/domain/transaction/events.js';
import {
  evolveTransaction,
  noReports,
  type TransactionState,
  whyPending,
} from '../../../src/areas/payments/domain/transaction/fold.js';
import { type DecisionEntry, type RecordedEntry, decisionOf } from '../payment-decisions/reader.js';

/** The reports of a transaction, or one report alone. */
export type TransactionDocument = TransactionState & {
  /** The platform's id; null where no report names it, or the stream forwards its reports. */
  readonly transaction_id: string | null;
  /** The time of receipt of the oldest pending report; null if none is. */
  readonly unmatched_since: string | null;
  /** The order that an operator's decision applied a report to; null otherwise. */
  readonly applied_to: string | null;
  /** The decisions of operators on its reports. */
  readonly decisions: readonly DecisionEntry[];
  /** The records of operators, by the keys of their reports. */
  readonly recorded: readonly (RecordedEntry & { readonly key: string })[];
};

const nothingYet: TransactionDocument = {
  ...{ ...noReports, transaction_id: null, unmatched_since: null, applied_to: null },
  ...{ decisions: [], recorded: [] },
};

function evolve(
  document: TransactionDocument | null,
  event: Recorded<TransactionEvent>,
): TransactionDocument {
  const before = document ?? nothingYet;
  const after = { ...before, ...evolveTransaction(before, event) };
  const [first] = after.reports;
  const pending = after.reports.find((report) => whyPending(after, report) !== null);
  return {
    ...after,
    transaction_id: first?.is_forwarded === true ? null : (first?.notifications[0]?.transaction_id ?? null),
    unmatched_since: pending?.received_at ?? null,
    ...byOperator(before, event),
  };
}

/** Keeps what operators decided and recorded, with their sealed notes. */
function byOperator(
  { decisions, recorded }: TransactionDocument,
  event: Recorded<TransactionEvent>,
): Partial<TransactionDocument> {
  if (event.type === 'PaymentReported' && event.data.recorded !== undefined) {
    const { note, note_of } = event.data.recorded;
    const entry = { key: event.data.key, note, note_of, by: event.metadata.actor, at: event.time };
    return { recorded: [...recorded, entry] };
  }
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
  version: 2,
  category: transactionCategory,
  codec: transactionCodec,
  indexes: ['unmatched_since', 'applied_to', 'transaction_id'],
  evolve,
};
