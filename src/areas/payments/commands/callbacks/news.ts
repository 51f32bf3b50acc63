import { isDeepStrictEqual } from 'node:util';
import { checkoutAggregate, isPaymentMade } from '../../domain/checkout/checkout.js';
import {
  approvalName,
  parseOrderNumber,
  transactionStreamId,
  type PaymentProviderName,
} from '../../domain/payment.js';
import { orderAggregate, outcomeIn, paymentUnderWay, reportedFact } from '../../domain/order/order.js';
import { type PaymentNotification, movesMoney } from '../../domain/fact.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { VerifiedCallback } from '../../platforms/payment-provider.js';
import type { PaymentDeps } from '../../deps.js';
import type { AcceptCallback } from './callbacks.js';

/**
 * Accepts the answer of a platform that was asked, as it accepts a callback. Drops facts that the transaction already has,
 * under any key. Returns whether a fact was new.
 * @throws StoreUnavailable, Overloaded
 */
export type AcceptNews = ReturnType<typeof makeAcceptNews>;

export function makeAcceptNews(
  deps: Pick<PaymentDeps, 'handler'> & { readonly acceptCallback: AcceptCallback },
) {
  const { handler, acceptCallback } = deps;
  return async (provider: PaymentProviderName, report: VerifiedCallback, context: CommandContext) => {
    const facts = report.notifications.filter(({ fact }) => fact.kind !== 'nothing');
    const known = await Promise.all(facts.map((one) => isKnown(provider, report, one)));
    if (!known.includes(false)) return false;
    return (await acceptCallback(provider, report, context.time, context)).isNew;
  };

  async function isKnown(
    provider: PaymentProviderName,
    { isOurs }: VerifiedCallback,
    one: PaymentNotification,
  ): Promise<boolean> {
    if (one.transaction_id !== null) {
      const id = transactionStreamId(provider, one.transaction_id);
      const { reports } = (await handler.load(transactionAggregate, id)).state;
      return reports.some((report) => report.is_ours === isOurs && report.notifications.some(isSame));
    }
    const orderId = isOurs ? parseOrderNumber(one.order_number ?? '') : null;
    if (one.fact.kind === 'approved') return isApprovalKnown(provider, orderId, one);
    // Of money without a transaction, and of what cannot be read, only the key says whether it came before.
    if (orderId === null || movesMoney(one.fact) || one.fact.kind === 'unreadable') return false;
    const { state } = await handler.load(orderAggregate, orderId);
    if (state.status === 'absent') return false;
    // A reply has the time of the question, which only tells whether a payment that is under way has ended since.
    const at = paymentUnderWay(state) === null ? null : one.at;
    const of = { callback: `${provider}-reply`, provider, mismatch: null };
    const fact = reportedFact({ ...one, at }, new Date(0).toISOString(), of);
    return outcomeIn(state, fact) === 'already_applied';

    function isSame({ fact, order_number: number }: PaymentNotification): boolean {
      const order = parseOrderNumber(number ?? '');
      return isDeepStrictEqual(fact, one.fact) && order === parseOrderNumber(one.order_number ?? '');
    }
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
}
