import { z } from 'zod';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { type AskedRefund, checkoutAggregate } from '../../domain/checkout/checkout.js';
import type { Ledger } from '../../domain/order/facts.js';
import { orderNumber } from '../../domain/order/number.js';
import { orderAggregate } from '../../domain/order/order.js';
import { transactionKey } from '../../domain/order/review.js';
import type { QueriedPayment, QueryingMaker } from '../../platforms/queried-payment.js';
import type { PaymentDeps } from '../../deps.js';
import { isRejection, type UseCaseRejection } from '../../../shared/rejections.js';
import type { AcceptNews } from '../callbacks/accept-news.js';
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
}: Pick<PaymentDeps, 'handler' | 'orders' | 'clock' | 'onFailure'> & {
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

  /**
   * Asks for one order after the other, until the time is over or too many failed. Throws only where the platform did not
   * answer about the first `failedMax` orders: the next call would begin at the same order.
   */
  async function askEach(
    ids: readonly string[],
    ask: (id: string) => Promise<Answers>,
  ): Promise<Omit<Reconciled, 'next'>> {
    const endMs = clock.now().getTime() + reconcilingMs;
    const failed: string[] = [];
    let [asked, reported, unanswered] = [0, 0, 0];
    for (const id of ids) {
      // A platform that limits the rate tells nothing of the next orders either.
      if (clock.now().getTime() > endMs || failed.length >= failedMax) break;
      asked += 1;
      const { isTold, isNews, failures } = await ask(id);
      if (isNews) reported += 1;
      if (failures.length > 0) failed.push(id);
      if (!isTold && isRejection<UseCaseRejection>(failures[0], 'platform_unavailable')) unanswered += 1;
      if (unanswered === failedMax && asked === failedMax) throw failures[0];
    }
    return { asked, reported, failed };
  }

  /** Asks about the refunds of an order, and about the order, also where the platform fails to tell a refund. */
  async function reconcile(maker: QueryingMaker, orderId: string, context: CommandContext): Promise<Answers> {
    const failures: unknown[] = [];
    let [isTold, isNews] = [false, false];
    for (const refund of await openRefunds(maker, orderId)) {
      if (failures.length >= failedMax) break;
      await hear(() => refundIsNews(maker, orderId, { refund, context }));
    }
    await hear(() => orderIsNews(maker, orderId, context));
    return { isTold, isNews, failures };

    async function hear(question: () => Promise<boolean>): Promise<void> {
      try {
        if (await question()) isNews = true;
        isTold = true;
      } catch (error) {
        if (!isOfPlatform(error)) throw error;
        failures.push(error);
      }
    }
  }

  async function refundIsNews(
    maker: QueryingMaker,
    orderId: string,
    { refund, context }: { readonly refund: AskedRefund; readonly context: CommandContext },
  ): Promise<boolean> {
    const { transaction_id: transactionId, refund: refundId } = refund;
    const asked = { orderNumber: orderNumber(orderId), transactionId, refundId };
    const queried = await ask(maker, () => maker.queryRefund(asked));
    return accept(maker, queried, stepContext(context, `${orderId}/${refundId}`));
  }

  async function orderIsNews(
    maker: QueryingMaker,
    orderId: string,
    context: CommandContext,
  ): Promise<boolean> {
    const queried = await ask(maker, () => maker.query(orderNumber(orderId)));
    const isKnown = queried.kind === 'refunded' && (await knowsRefund(maker, orderId, queried.transactionId));
    return !isKnown && accept(maker, queried, stepContext(context, orderId));
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
    // Where only the refund was reported, the payment is still lost, and an operator records it.
    return ledgers.some(
      ({ captured, refunds, refunded_in_total: total }) =>
        captured !== null && (refunds.length > 0 || total !== null),
    );
  }

  async function ledgersOf(orderId: string, transaction?: string): Promise<readonly Ledger[]> {
    const { state } = await handler.load(orderAggregate, orderId);
    const all = state.status === 'placed' ? state.facts.transactions : [];
    return all
      .filter(({ id }) => transaction === undefined || id === transaction)
      .flatMap(({ ledgers }) => ledgers);
  }
}

/** What the platform answered about one order and its refunds. */
interface Answers {
  /** The platform answered a question at least. */
  readonly isTold: boolean;
  readonly isNews: boolean;
  /** The errors of the questions that it refused or did not answer. */
  readonly failures: readonly unknown[];
}

/** Returns whether the error is the platform's, about one order. */
function isOfPlatform(error: unknown): boolean {
  return (
    isRejection<UseCaseRejection>(error, 'platform_unavailable') ||
    isRejection<UseCaseRejection>(error, 'payment_refused')
  );
}
