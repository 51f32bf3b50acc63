import { decideBy, defineAggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { isDeepStrictEqual } from 'node:util';
import {
  type PaymentProviderName,
  conflictsMax,
  platformTerms,
  isForwardedKey,
  ownStreamId,
  transactionStreamId,
} from '../payment.js';
import {
  type PaymentReport,
  type ReportResolution,
  type TransactionEvent,
  transactionEvents,
} from './events.js';
import {
  type TransactionReport,
  type TransactionState,
  evolveTransaction,
  isUnreadable,
  noReports,
  whyPending,
} from './fold.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

const messages = {
  payment_callback_not_found: 'there is no such payment',
  payment_callback_not_held: 'nothing of this payment waits for a decision',
  payment_callback_resolved: 'another decision on this payment stands',
  payment_callback_unreadable: 'what the platform says cannot be read; dismiss it',
  payment_callback_full: 'no more reports are kept of it; dismiss it, or record the payment',
  transaction_of_another_order: 'the transaction has paid another order',
  transaction_full: 'too much was reported of this transaction already',
};
export type PaymentRejection = keyof typeof messages;

export function rejectPayment(code: PaymentRejection, message: string = messages[code]): never {
  throw new CommandRejected<PaymentRejection>(code, message);
}

type TransactionCommand =
  | { readonly type: 'Report'; readonly report: PaymentReport }
  | { readonly type: 'Hold'; readonly report: number }
  | { readonly type: 'Resolve'; readonly resolution: ReportResolution };

/** Bounds the stream: docs/decisions/settlement.md#0069-bounds-of-a-transaction. */
export const transactionReportsMax = 500;

const decide = decideBy<TransactionCommand, TransactionState, TransactionEvent>({
  Report: (command, state) => report(command.report, state),
  Hold: (command, state) => {
    const { held, decision } = reportAt(state, command.report);
    if (held !== null || decision !== null) return [];
    return [{ type: 'PaymentReportHeld', data: { report: command.report } }];
  },
  Resolve: (command, state) => resolve(command.resolution, state),
});

/** A duplicate appends nothing. Other content under a known key is recorded once, for the first `conflictsMax`. */
function report(data: PaymentReport, state: TransactionState): readonly TransactionEvent[] {
  const { key, digest } = data;
  const { link, reports, conflicts } = state;
  const known = reports.find((one) => one.key === key);
  if (known === undefined) {
    if (reports.length >= transactionReportsMax) rejectPayment('transaction_full');
    const isApart = isUnreadable(data) || data.is_excess === true || data.is_forwarded === true;
    const order_id = isApart ? null : (data.order_id ?? link?.order_id ?? null);
    return [{ type: 'PaymentReported', data: { ...data, order_id } }];
  }
  const isKnown = known.digest === digest || conflicts.some((one) => isDeepStrictEqual(one, { key, digest }));
  if (isKnown || conflicts.length >= conflictsMax) return [];
  return [{ type: 'PaymentConflicted', data: { key, digest } }];
}

/** A repeated decision appends nothing. A different later one is rejected. */
function resolve(resolution: ReportResolution, state: TransactionState): readonly TransactionEvent[] {
  const { action, order_id, note_digest } = resolution;
  const pending = reportAt(state, resolution.report);
  if (isDeepStrictEqual(pending.decision, { action, order_id, note_digest })) return [];
  if (pending.decision !== null) rejectPayment('payment_callback_resolved');
  const reason = whyPending(state, pending);
  if (reason === null) rejectPayment('payment_callback_not_held');
  if (action === 'apply' && reason === 'unreadable') rejectPayment('payment_callback_unreadable');
  if (action === 'apply' && pending.held !== null) rejectPayment('payment_callback_full');
  return [{ type: 'PaymentReportResolved', data: resolution }];
}

/** @throws CommandRejected payment_callback_not_found */
export function reportAt({ reports }: TransactionState, revision: number): TransactionReport {
  return reports.find((one) => one.revision === revision) ?? rejectPayment('payment_callback_not_found');
}

export const transactionAggregate = defineAggregate<TransactionState, TransactionCommand, TransactionEvent>(
  transactionEvents,
  { initialState: noReports, decide, evolve: evolveTransaction },
);

/**
 * Returns the stream of a report: that of its transaction. A report has a stream for itself when it names none, and when
 * it must be forwarded: it names several, a part of it cannot be read, or PayPal sent it. PayPal's signature does not
 * bind the body to the key, so there the stream of the key shows other content.
 */
export function homeOf(
  provider: PaymentProviderName,
  { key, notifications, recorded }: Pick<PaymentReport, 'key' | 'notifications' | 'recorded'>,
): { readonly id: string; readonly isForwarded: boolean } {
  const [transaction = null, ...others] = notifications.map(({ transaction_id }) => transaction_id);
  const orders = new Set(notifications.map(({ order_number }) => order_number));
  const isOne =
    others.every((other) => other === transaction) &&
    orders.size <= 1 &&
    !(others.length > 0 && isUnreadable({ notifications }));
  const isBound =
    platformTerms(provider).binds_key !== false || isForwardedKey(key) || recorded !== undefined;
  return transaction !== null && isOne && isBound
    ? { id: transactionStreamId(provider, transaction), isForwarded: false }
    : { id: ownStreamId(provider, key), isForwarded: !isOne || transaction !== null };
}
