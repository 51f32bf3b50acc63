import { refundedOf, takenOf } from '../../domain/order/facts.js';
import type { PlacedOrder } from '../../domain/order/order.js';
import type { Capture } from '../../domain/order/unused.js';
import type { AskedRefund } from '../../domain/checkout/checkout.js';

/**
 * Returns what can go back of a payment: what was paid less what was refunded, taken back or is on its way. A refund that the service
 * asked for counts until the platform refused it, or reported it as failed. A platform that reports totals alone names no
 * refund, so there the larger of both figures counts; the platform refuses what is too much.
 */
export function remainingOf(
  { facts }: Pick<PlacedOrder, 'facts'>,
  { transaction, transaction_id, amount, currency }: Capture,
  asked: readonly AskedRefund[],
): number {
  const about = facts.transactions.find(({ id }) => id === transaction);
  const ledger = about?.ledgers.find((one) => one.currency === currency);
  const taken = about === undefined || ledger === undefined ? 0 : takenOf(about, ledger);
  const reported = ledger?.refunds ?? [];
  const known = sum(reported.filter(({ status }) => status === 'pending' || status === 'succeeded'));
  const unreported = asked.filter(
    (one) =>
      one.transaction_id === transaction_id &&
      one.outcome !== 'refused' &&
      !isReported(one.outcome?.refundId),
  );
  const total = ledger === undefined ? 0 : refundedOf(ledger);
  return amount - taken - Math.max(total, known + sum(unreported));

  function isReported(refundId: string | undefined): boolean {
    return reported.some(({ id }) => id === refundId);
  }
}

function sum(items: readonly { readonly amount: number }[]): number {
  return items.reduce((total, { amount }) => total + amount, 0);
}
