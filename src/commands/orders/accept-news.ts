import { isDeepStrictEqual } from 'node:util';
import { parseOrderNumber } from '../../domain/order/number.js';
import { transactionStreamId } from '../../domain/payment-ids.js';
import type { PaymentNotification, PaymentProviderName } from '../../domain/payment.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { VerifiedCallback } from '../../integrations/payments/payment-provider.js';
import type { Deps } from '../deps.js';
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
}: Pick<Deps, 'handler'> & { readonly acceptCallback: AcceptCallback }): AcceptNews {
  return async (provider, report, context) => {
    const facts = report.notifications.filter(({ fact }) => fact.kind !== 'nothing');
    const known = await Promise.all(facts.map((one) => isKnown(provider, report, one)));
    if (!known.includes(false)) return false;
    return (await acceptCallback(provider, report, context.time, context)).isNew;
  };

  async function isKnown(
    provider: PaymentProviderName,
    { isOurs }: VerifiedCallback,
    { transaction_id: transaction, order_number: number, fact }: PaymentNotification,
  ): Promise<boolean> {
    if (transaction === null) return false;
    const { state } = await handler.load(transactionAggregate, transactionStreamId(provider, transaction));
    const told = state.reports.filter(({ is_ours }) => is_ours === isOurs).flatMap((report) => report.told);
    return told.some(
      (one) =>
        isDeepStrictEqual(one.fact, fact) &&
        parseOrderNumber(one.order_number ?? '') === parseOrderNumber(number ?? ''),
    );
  }
}
