import type { HoldReason } from '../payment.js';
import type { PaymentReport, ReportResolution, TransactionEvent } from './events.js';

/** An accepted report. A type alias, because documents contain it. */
export type TransactionReport = Omit<PaymentReport, 'is_excess'> & {
  readonly revision: number;
  /** Why the report waits, although an order is known. */
  readonly held: 'order_full' | 'transaction_full' | null;
  readonly decision: Pick<ReportResolution, 'action' | 'order_id' | 'note_digest'> | null;
};

/** What was reported of a platform's transaction (docs/design.md#settling). The view folds it too. */
export type TransactionState = {
  /** The link: the first order that a report or a decision names. `at`: the revision of that event. */
  readonly link: { readonly order_id: string; readonly at: number } | null;
  readonly reports: readonly TransactionReport[];
  readonly conflicts: readonly { readonly key: string; readonly digest: string }[];
};

export const noReports: TransactionState = { link: null, reports: [], conflicts: [] };

/** The reports that an event makes due: its own, and those that its link releases. All are about one order. */
export interface Due {
  readonly orderId: string;
  /** The transaction pays another order. */
  readonly isOther: boolean;
  readonly reports: readonly TransactionReport[];
}

export function dueAt({ link, reports }: TransactionState, revision: number): Due | null {
  const due = reports.filter(
    (report) =>
      (revision === link?.at ? report.revision <= revision : report.revision === revision) &&
      report.held === null &&
      report.decision?.action !== 'dismiss' &&
      !isUnreadable(report),
  );
  const orderId = (revision === link?.at ? null : due[0]?.order_id) ?? link?.order_id;
  if (orderId === undefined || due.length === 0) return null;
  return { orderId, isOther: orderId !== link?.order_id, reports: due };
}

/** Returns why a report waits for its order or for an operator; null if it does not. */
export function whyWaiting(
  { link }: Pick<TransactionState, 'link'>,
  report: TransactionReport,
): HoldReason | null {
  if (report.decision !== null) return null;
  if (isUnreadable(report)) return 'unreadable';
  if (report.held !== null) return report.held;
  if (link !== null) return null;
  const isNamed = report.told.some(({ order_number: number }) => number !== null);
  return isNamed ? 'unknown_order' : 'unlinked_transaction';
}

export function isUnreadable({ told }: Pick<TransactionReport, 'told'>): boolean {
  return told.some(({ fact }) => fact.kind === 'unreadable');
}

export function evolveTransaction(
  state: TransactionState,
  event: TransactionEvent & { readonly revision: bigint },
): TransactionState {
  const at = Number(event.revision);
  switch (event.type) {
    case 'PaymentReported': {
      const { is_excess, ...data } = event.data;
      const held = is_excess === true ? 'transaction_full' : null;
      const reports = [...state.reports, { ...data, revision: at, held, decision: null } as const];
      return { ...state, reports, link: state.link ?? linkTo(data.order_id, at) };
    }
    case 'PaymentConflicted':
      return { ...state, conflicts: [...state.conflicts, event.data] };
    case 'PaymentReportHeld':
      return withReport(state, event.data.report, { held: 'order_full' });
    case 'PaymentReportResolved': {
      const { report, action, order_id, note_digest } = event.data;
      const link = state.link ?? linkTo(order_id, at);
      return { ...withReport(state, report, { decision: { action, order_id, note_digest } }), link };
    }
  }
}

function linkTo(order_id: string | null, at: number): TransactionState['link'] {
  return order_id === null ? null : { order_id, at };
}

function withReport(
  state: TransactionState,
  revision: number,
  change: Partial<TransactionReport>,
): TransactionState {
  const reports = state.reports.map((one) => (one.revision === revision ? { ...one, ...change } : one));
  return { ...state, reports };
}
