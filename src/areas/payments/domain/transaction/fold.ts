import { movesMoney, type PaymentNotification } from '../fact.js';
import { type HoldReason, parseOrderNumber } from '../payment.js';
import type { PaymentReport, ReportResolution, TransactionEvent } from './events.js';

/** A report in its stream. A type alias, because documents contain it. */
export type TransactionReport = PaymentReport & {
  readonly revision: number;
  /** Why it is pending, although an order is known. */
  readonly held: 'order_full' | 'transaction_full' | null;
  readonly decision: Pick<ReportResolution, 'action' | 'order_id' | 'note_digest'> | null;
};

/** What was reported of a platform's transaction (src/areas/payments/README.md#settling). The view folds it too. */
export type TransactionState = {
  /** The link: the first order that a report or a decision names. `at`: the revision of that event. */
  readonly link: { readonly order_id: string; readonly at: number } | null;
  readonly reports: readonly TransactionReport[];
  readonly conflicts: readonly { readonly key: string; readonly digest: string }[];
};

export const noReports: TransactionState = { link: null, reports: [], conflicts: [] };

/** The reports that an event makes applicable: its report, and those that its link releases. All are about one order. */
export interface Applicable {
  readonly orderId: string;
  /** The transaction pays another order. */
  readonly isOther: boolean;
  readonly reports: readonly TransactionReport[];
}

export function applicableAt({ link, reports }: TransactionState, revision: number): Applicable | null {
  const found = reports.filter(
    (report) =>
      (revision === link?.at ? report.revision <= revision : report.revision === revision) &&
      report.held === null &&
      report.decision?.action !== 'dismiss' &&
      report.is_forwarded !== true &&
      !isUnreadable(report),
  );
  const orderId = (revision === link?.at ? null : found[0]?.order_id) ?? link?.order_id;
  if (orderId === undefined || found.length === 0) return null;
  return { orderId, isOther: orderId !== link?.order_id, reports: found };
}

/**
 * Returns whether the account of a report is ours, and its notification is about the order for another reason than a report of
 * another account: such a report links the transaction to its order, and nothing of ours.
 */
export function isOfOurs(
  { link, reports }: TransactionState,
  orderId: string,
  report: Pick<PaymentReport, 'is_ours'>,
  { order_number }: Pick<PaymentNotification, 'order_number'>,
): boolean {
  const linking = reports.find(({ revision }) => revision === link?.at);
  const isNamed = parseOrderNumber(order_number ?? '') === orderId;
  return report.is_ours && (isNamed || linking?.is_ours !== false);
}

/** Returns why a report is pending: it waits for its order or for an operator. Null: it is not, or it moves no money. */
export function whyPending(
  { link }: Pick<TransactionState, 'link'>,
  report: TransactionReport,
): HoldReason | null {
  if (report.decision !== null || report.is_forwarded === true) return null;
  if (isUnreadable(report)) return 'unreadable';
  // What moves no money waits for a link alone, and for no operator.
  if (!report.notifications.some(({ fact }) => movesMoney(fact))) return null;
  if (report.held !== null) return report.held;
  if (link !== null) return null;
  const isNamed = report.notifications.some(({ order_number: number }) => number !== null);
  return isNamed ? 'unknown_order' : 'unlinked_transaction';
}

export function isUnreadable({ notifications }: Pick<PaymentReport, 'notifications'>): boolean {
  return notifications.some(({ fact }) => fact.kind === 'unreadable');
}

export function evolveTransaction(
  state: TransactionState,
  event: TransactionEvent & { readonly revision: bigint },
): TransactionState {
  const at = Number(event.revision);
  switch (event.type) {
    case 'PaymentReported': {
      const held = event.data.is_excess === true ? 'transaction_full' : null;
      const report = { ...event.data, revision: at, held, decision: null } as const;
      return { ...withLink(state, report.order_id, at), reports: [...state.reports, report] };
    }
    case 'PaymentConflicted':
      return { ...state, conflicts: [...state.conflicts, event.data] };
    case 'PaymentReportHeld':
      return withReport(state, event.data.report, { held: 'order_full' });
    case 'PaymentReportResolved': {
      const { report, action, order_id, note_digest } = event.data;
      const decided = withReport(state, report, { decision: { action, order_id, note_digest } });
      return withLink(decided, order_id, at);
    }
  }
}

function withLink(state: TransactionState, order_id: string | null, at: number): TransactionState {
  return state.link !== null || order_id === null ? state : { ...state, link: { order_id, at } };
}

function withReport(
  state: TransactionState,
  revision: number,
  change: Partial<TransactionReport>,
): TransactionState {
  const reports = state.reports.map((one) => (one.revision === revision ? { ...one, ...change } : one));
  return { ...state, reports };
}
