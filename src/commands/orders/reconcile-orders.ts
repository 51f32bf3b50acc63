import { z } from 'zod';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { invalid } from '../../domain/invalid-request.js';
import { type AskedRefund, checkoutAggregate } from '../../domain/checkout/checkout.js';
import type { Ledger } from '../../domain/order/facts.js';
import { orderNumber } from '../../domain/order/number.js';
import { orderAggregate } from '../../domain/order/order.js';
import { transactionKey } from '../../domain/order/review.js';
import type { QueriedPayment, QueryingMaker } from '../../integrations/payments/queried-payment.js';
import type { Deps } from '../deps.js';
import { isRejection } from '../shared/rejections.js';
import type { AcceptNews } from './accept-news.js';
import { askPlatform } from './ask-platform.js';
import { type Reconciled, type ReconcilePeriod, reconcilingMs } from './reconcile-period.js';

/**
 * Asks a platform for the state of each order of a period that is not refunded, and of the refunds that the service asked
 * for. A call looks at 100 orders at most. One order that the platform cannot tell stops no other.
 */
export type ReconcileOrders = (
  maker: QueryingMaker,
  period: ReconcilePeriod,
  context: CommandContext,
) => Promise<Reconciled>;

const pageMax = 100;
const failedMax = 5;

export function makeReconcileOrders({
  handler,
  orders,
  clock,
  onFailure,
  acceptNews,
}: Pick<Deps, 'handler' | 'orders' | 'clock' | 'onFailure'> & {
  readonly acceptNews: AcceptNews;
}): ReconcileOrders {
  return async (maker, { from, to, after }, context) => {
    if (after !== null && !z.uuid().safeParse(after).success) invalid('after', 'is no `next` of such a call');
    const start = after === null ? {} : { after };
    const page = await orders.placedIn({ from, to }, { limit: pageMax, ...start });
    const waiting = page.filter(
      ({ provider, status }) => provider === maker.provider && status !== 'refunded',
    );
    const ids = waiting.map(({ id }) => id);
    const told = await askEach(ids, (id) => reconcile(maker, id, context));
    const last = page.length < pageMax ? null : (page.at(-1)?.id ?? null);
    // The next call begins after the last order that this one asked for.
    return { ...told, next: told.asked === ids.length ? last : (ids[told.asked - 1] ?? after) };
  };

  /** Asks for one order after the other, until the time is over or too many failed. */
  async function askEach(
    ids: readonly string[],
    ask: (id: string) => Promise<boolean>,
  ): Promise<Omit<Reconciled, 'next'>> {
    const endMs = clock.now().getTime() + reconcilingMs;
    const failed: string[] = [];
    let [asked, reported] = [0, 0];
    for (const id of ids) {
      // A platform that limits the rate tells nothing of the next orders either.
      if (clock.now().getTime() > endMs || failed.length >= failedMax) break;
      asked += 1;
      try {
        if (await ask(id)) reported += 1;
      } catch (error) {
        if (!isOfPlatform(error)) throw error;
        failed.push(id);
        // It told nothing of any order: it is away, or its credentials are wrong.
        if (failed.length === asked && asked >= Math.min(failedMax, ids.length)) throw error;
      }
    }
    return { asked, reported, failed };
  }

  /** Returns whether the platform reported any news of the order. */
  async function reconcile(maker: QueryingMaker, orderId: string, context: CommandContext): Promise<boolean> {
    const number = orderNumber(orderId);
    let isNews = false;
    for (const { transaction_id: transactionId, refund: refundId } of await openRefunds(maker, orderId)) {
      const refund = { orderNumber: number, transactionId, refundId };
      const queried = await ask(maker, () => maker.queryRefund(refund));
      if (await accept(maker, queried, stepContext(context, `${orderId}/${refundId}`))) isNews = true;
    }
    const queried = await ask(maker, () => maker.query(number));
    if (queried.kind === 'refunded' && (await knowsRefund(maker, orderId, queried.transactionId)))
      return isNews;
    return (await accept(maker, queried, stepContext(context, orderId))) || isNews;
  }

  function ask(
    { provider }: QueryingMaker,
    question: () => Promise<QueriedPayment>,
  ): Promise<QueriedPayment> {
    return askPlatform({ provider, work: 'tell the state of an order' }, question, onFailure);
  }

  async function accept(
    { provider }: QueryingMaker,
    queried: QueriedPayment,
    context: CommandContext,
  ): Promise<boolean> {
    return queried.kind !== 'unknown' && acceptNews(provider, queried.report, context);
  }

  /** Returns the refunds that the service asked for, and of which no report has told the end. */
  async function openRefunds({ provider }: QueryingMaker, orderId: string): Promise<readonly AskedRefund[]> {
    const { refunds } = (await handler.load(checkoutAggregate, orderId)).state;
    const asked = refunds.filter((one) => one.provider === provider && one.outcome !== 'refused');
    if (asked.length === 0) return [];
    const ledgers = await ledgersOf(orderId);
    const ended = ledgers.flatMap((ledger) => ledger.refunds).filter(({ status }) => status !== 'pending');
    return asked.filter(({ refund }) => !ended.some(({ id }) => id === refund));
  }

  async function knowsRefund(
    { provider }: QueryingMaker,
    orderId: string,
    transactionId: string | null,
  ): Promise<boolean> {
    const ledgers = await ledgersOf(orderId, transactionKey(provider, '', transactionId));
    return ledgers.some(({ refunds, refunded_in_total: total }) => refunds.length > 0 || total !== null);
  }

  async function ledgersOf(orderId: string, transaction?: string): Promise<readonly Ledger[]> {
    const { state } = await handler.load(orderAggregate, orderId);
    const all = state.status === 'placed' ? state.facts.transactions : [];
    return all
      .filter(({ id }) => transaction === undefined || id === transaction)
      .flatMap(({ ledgers }) => ledgers);
  }
}

/** Returns whether the error is the platform's, about one order. */
function isOfPlatform(error: unknown): boolean {
  return isRejection(error, 'platform_unavailable') || isRejection(error, 'payment_refused');
}
