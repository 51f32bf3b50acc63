import { factName } from '../../../src/areas/payments/domain/payment-ids.js';
import { knownAs } from '../../../src/areas/payments/domain/order/review.js';
import type { Disposition, HoldReason } from '../../../src/areas/payments/domain/payment.js';
import { type TransactionReport, whyWaiting } from '../../../src/areas/payments/domain/transaction/status.js';
import type { ViewDocument } from '../../../src/event-sourcing/views/views.js';
import type { OrderDocument } from '../orders/projection.js';
import type { TransactionDocument } from '../transactions/projection.js';

/** What has become of a report. `held`: why it waits. */
export interface ReportOutcome {
  readonly held: HoldReason | null;
  readonly disposition: Disposition | null;
  readonly order_id: string | null;
}

/** Derives the outcome of a report from what its order knows (docs/design.md#settling). */
export function outcomeOf(
  { id, body }: Pick<ViewDocument<TransactionDocument>, 'id' | 'body'>,
  report: TransactionReport,
  order: Pick<OrderDocument, 'seen'> | null,
): ReportOutcome {
  const held = whyWaiting(body, report);
  if (held !== null) return { held, disposition: null, order_id: report.order_id };
  if (report.decision?.action === 'dismiss') return { held, disposition: 'ignored', order_id: null };
  const order_id = report.order_id ?? body.link?.order_id ?? null;
  const found = report.told.map((_, index) => knownAs(order?.seen ?? [], factName(id, report, index)));
  const disposition = rank.find((one) => found.some((as) => as === one)) ?? 'already_applied';
  return { held, disposition: order === null ? null : disposition, order_id };
}

const rank = ['mismatch', 'applied', 'already_applied', 'ignored'] as const;

/** Returns the outcome of a callback: why a part of it waits, or the most important disposition of its parts. */
export function together(outcomes: readonly ReportOutcome[]): ReportOutcome {
  const isOpen = ({ held, disposition }: ReportOutcome): boolean => held !== null || disposition === null;
  const open = outcomes.find(isOpen);
  if (open !== undefined) return open;
  const main = rank.map((one) => outcomes.find(({ disposition }) => disposition === one));
  return main.find((one) => one !== undefined) ?? { held: null, disposition: 'ignored', order_id: null };
}
