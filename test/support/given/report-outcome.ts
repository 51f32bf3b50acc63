import { platformOf } from '../../../src/areas/payments/domain/order/events.js';
import {
  type FactOutcome,
  orderAggregate,
  outcomeIn,
} from '../../../src/areas/payments/domain/order/order.js';
import { factName, type Disposition } from '../../../src/areas/payments/domain/payment.js';
import { transactionAggregate } from '../../../src/areas/payments/domain/transaction/transaction.js';
import {
  type TransactionReport,
  type TransactionState,
  isOfOurs,
  whyPending,
} from '../../../src/areas/payments/domain/transaction/fold.js';
import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';

/** What has become of a report. `disposition`: null while it waits, or while its order has not learned it. */
interface ReportOutcome {
  readonly disposition: Disposition | null;
  readonly orderId: string | null;
}

/** Derives the outcome of a report from its stream and its order, for a platform without credentials. */
export async function outcomeOfReport(
  handler: CommandHandler,
  stream: string,
  revision: number,
): Promise<ReportOutcome> {
  const { state } = await handler.load(transactionAggregate, stream);
  const report = state.reports.find((one) => one.revision === revision);
  if (report === undefined) throw new Error('a report is in its stream');
  const isIgnored = report.decision?.action === 'dismiss' || report.notifications.length === 0;
  if (isIgnored) return { disposition: 'ignored', orderId: null };
  const linked = state.link?.order_id ?? null;
  const orderId = report.order_id ?? linked;
  if (orderId === null) return unlinked(state, report);
  const { state: order } = await handler.load(orderAggregate, orderId);
  if (order.status === 'absent') throw new Error('the order of a report is gone');
  const outcomes = report.notifications.map((notification, index) => {
    const { fact, transaction_id: transactionId, at } = notification;
    const ofReport = isOfOurs(state, orderId, report, notification) ? null : 'merchant';
    return outcomeIn(order, {
      ...{ callback: factName(stream, report, index), provider: platformOf(stream), transactionId, fact },
      mismatch: orderId === linked ? ofReport : 'transaction_of_another_order',
      at: new Date(at ?? report.received_at),
    });
  });
  return { disposition: mainOf(outcomes), orderId };
}

/** What moves no money waits for no operator. */
function unlinked(state: TransactionState, report: TransactionReport): ReportOutcome {
  return { disposition: whyPending(state, report) === null ? 'ignored' : null, orderId: null };
}

function mainOf(outcomes: readonly FactOutcome[]): Disposition | null {
  if (outcomes.includes('owed') || outcomes.includes('full')) return null;
  const rank = ['mismatch', 'applied', 'already_applied'] as const;
  return rank.find((one) => outcomes.includes(one)) ?? 'ignored';
}
