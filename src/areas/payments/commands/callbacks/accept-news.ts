import { isDeepStrictEqual } from 'node:util';
import { checkoutAggregate, isPaymentMade } from '../../domain/checkout/checkout.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { orderAggregate, outcomeIn, reportedFact } from '../../domain/order/order.js';
import { approvalName, transactionStreamId } from '../../domain/payment-ids.js';
import type { PaymentNotification, PaymentProviderName } from '../../domain/payment.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { VerifiedCallback } from '../../platforms/payment-provider.js';
import type { PaymentDeps } from '../../deps.js';
import type { AcceptCallback } from './accept-callback.js';

/**
 * Accepts what a platform says when it is asked, as it accepts a callback. Facts that their transactions know are no news,
 * also where a callback reported them under another key, and change nothing. Returns whether it was news.
 * @throws StoreUnavailable, Overloaded
 */
export type AcceptNews = (
  provider: PaymentProviderName,
  report: VerifiedCallback,
  context: CommandContext,
) => Promise<boolean>;

export function makeAcceptNews({
  handler,
  acceptCallback,
}: Pick<PaymentDeps, 'handler'> & { readonly acceptCallback: AcceptCallback }): AcceptNews {
  return async (provider, report, context) => {
    const facts = report.notifications.filter(({ fact }) => fact.kind !== 'nothing');
    const known = await Promise.all(facts.map((one) => isKnown(provider, report, one)));
    if (!known.includes(false)) return false;
    return (await acceptCallback(provider, report, context.time, context)).isNew;
  };

  async function isKnown(
    provider: PaymentProviderName,
    report: VerifiedCallback,
    one: PaymentNotification,
  ): Promise<boolean> {
    if (one.transaction_id !== null) return isInTransaction(provider, report, one, one.transaction_id);
    const orderId = report.isOurs ? parseOrderNumber(one.order_number ?? '') : null;
    switch (one.fact.kind) {
      case 'approved':
        return isApprovalKnown(provider, orderId, one);
      case 'pending':
      case 'failed':
      case 'expired':
      case 'canceled':
        return orderId !== null && (await isKnownToOrder(provider, orderId, one));
      case 'paid':
      case 'refund':
      case 'refunded-in-total':
      case 'dispute':
      case 'nothing':
      case 'unreadable':
        // An order keeps nothing of a message that cannot be read. The key alone says whether it came before.
        return false;
    }
  }

  async function isInTransaction(
    provider: PaymentProviderName,
    { isOurs }: VerifiedCallback,
    { order_number: number, fact }: PaymentNotification,
    transaction: string,
  ): Promise<boolean> {
    const { state } = await handler.load(transactionAggregate, transactionStreamId(provider, transaction));
    const told = state.reports.filter(({ is_ours }) => is_ours === isOurs).flatMap((report) => report.told);
    return told.some(
      (one) =>
        isDeepStrictEqual(one.fact, fact) &&
        parseOrderNumber(one.order_number ?? '') === parseOrderNumber(number ?? ''),
    );
  }

  /**
   * An approval of a payment that the service did not make is the shop's to capture. After a refused capture, the buyer may
   * have approved the same payment again, in another event.
   */
  async function isApprovalKnown(
    provider: PaymentProviderName,
    orderId: string | null,
    { reference, event }: PaymentNotification,
  ): Promise<boolean> {
    if (orderId === null || reference === undefined) return true;
    const { approvals, made } = (await handler.load(checkoutAggregate, orderId)).state;
    if (!isPaymentMade(made, { provider, reference })) return true;
    const name = event === undefined ? null : approvalName(provider, reference, event);
    return approvals.some(
      (one) =>
        one.approval === name ||
        (one.provider === provider && one.reference === reference && one.outcome !== 'refused'),
    );
  }

  async function isKnownToOrder(
    provider: PaymentProviderName,
    orderId: string,
    one: PaymentNotification,
  ): Promise<boolean> {
    const { state } = await handler.load(orderAggregate, orderId);
    if (state.status === 'absent') return false;
    const reported = reportedFact(one, new Date(0).toISOString(), { callback: '', provider, mismatch: null });
    return outcomeIn(state, reported) === 'already_applied';
  }
}
