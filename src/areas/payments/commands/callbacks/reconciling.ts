import { z } from 'zod';
import { stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { invalid } from '../../../../validation/field-problems.js';
import { type UseCaseRejection, isRejection, rejectUseCase } from '../../../shared/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import { type AskedRefund, checkoutAggregate } from '../../domain/checkout/checkout.js';
import type { Ledger } from '../../domain/order/facts.js';
import { orderNumber, type PaymentProviderName } from '../../domain/payment.js';
import { orderAggregate } from '../../domain/order/order.js';
import { transactionKey } from '../../domain/order/review.js';
import type { OrderQueries, QueriedPayment, ReportList } from '../../platforms/payment-maker.js';
import type { AcceptNews } from './news.js';
import { PlatformError } from '../../domain/platform-error.js';
import { askPlatform } from '../platforms.js';

/** Orders that were placed, or reports that the platform made, from `from` on and before `to`. */
interface ReconcilePeriod {
  readonly from: Date;
  readonly to: Date;
  /** `next` of the call before; null for the first. */
  readonly after: string | null;
}

interface Reconciled {
  /** Orders that the platform was asked for, or reports that it listed. */
  readonly asked: number;
  /** Those about which the platform told something that the service did not know. */
  readonly reported: number;
  /** Orders of which the platform told nothing, because it refused or failed. The next run asks for them again. */
  readonly failed: readonly string[];
  /** The cursor from which the next call goes on; null at the end. */
  readonly next: string | null;
}

/** A call begins no question to the platform later than this. */
const reconcilingMs = 40_000;
/** Orders that a call looks at, pages of a list that it reads, and orders that the platform may fail to tell. */
const ordersMax = 100;
const pagesMax = 20;
const failedMax = 5;

interface Asked<Asks> {
  readonly provider: PaymentProviderName;
  readonly asks: Asks;
}

/** What the platform answered about one order and its refunds. */
interface Answers {
  /** The platform answered a question at least. */
  readonly isTold: boolean;
  readonly isNews: boolean;
  /** The errors of the questions that it refused or did not answer. */
  readonly failures: readonly unknown[];
}

export type ReconcilePayments = ReturnType<typeof makeReconciling>['reconcilePayments'];

export type ReconcileRefund = ReturnType<typeof makeReconciling>['reconcileRefund'];

export function makeReconciling(
  deps: Pick<PaymentDeps, 'handler' | 'orders' | 'clock' | 'onFailure' | 'paymentMakers'> & {
    readonly acceptNews: AcceptNews;
  },
) {
  const { handler, orders, clock, onFailure, paymentMakers, acceptNews } = deps;
  return { reconcilePayments, reconcileRefund: { isOpen, ask: askForRefund } };

  /**
   * Asks a platform for what its callbacks did not report in a period. What it answers is a report like a callback's, so a
   * known one changes nothing, and one that differs goes to review. A platform that lists its reports is asked for the list;
   * another one for the state of each order. A call begins no question after 40 s.
   * @throws CommandRejected invalid_request, payment_not_offered, payment_refused, platform_unavailable: the platform told
   * nothing
   */
  async function reconcilePayments(
    { provider, ...period }: ReconcilePeriod & { readonly provider: PaymentProviderName },
    context: CommandContext,
  ): Promise<Reconciled> {
    if (!(period.from < period.to)) invalid('to', 'must be after from', 'too_small');
    const asks = paymentMakers.get(provider)?.asks;
    if (asks === undefined)
      return rejectUseCase(
        'payment_not_offered',
        `the service cannot ask ${provider} what became of payments`,
      );
    return 'listReports' in asks
      ? askForList({ provider, asks }, period, context)
      : askForOrders({ provider, asks }, period, context);
  }

  /** Makes what says that a call begins no further question. */
  function makeIsOver(): () => boolean {
    const endMs = clock.steadyMs() + reconcilingMs;
    return () => clock.steadyMs() > endMs;
  }

  /** Accepts each report of the list that never came. Where the time ends within a page, the next call reads the page again. */
  async function askForList(
    { provider, asks }: Asked<ReportList>,
    { after, ...period }: ReconcilePeriod,
    context: CommandContext,
  ): Promise<Reconciled> {
    const isOver = makeIsOver();
    const question = { provider, work: 'list what it reported' };
    let [asked, reported, cursor] = [0, 0, after];
    for (let page = 0; page < pagesMax; page += 1) {
      const { reports, next } = await askPlatform(
        question,
        () => asks.listReports(period, cursor),
        onFailure,
      );
      for (const report of reports) {
        if (isOver()) return { asked, reported, failed: [], next: cursor };
        asked += 1;
        if (await acceptNews(provider, report, stepContext(context, report.key))) reported += 1;
      }
      if (next !== null && next === cursor) {
        // A page that leads to itself hides what follows, and would be read for a day.
        const repeated = new PlatformError('outcome_unknown', 'repeated_page');
        await askPlatform(question, () => Promise.reject(repeated), onFailure);
      }
      cursor = next;
      if (cursor === null || isOver()) break;
    }
    return { asked, reported, failed: [], next: cursor };
  }

  /** Asks for the state of each order that is not refunded. One order that the platform cannot tell stops no other. */
  async function askForOrders(
    platform: Asked<OrderQueries>,
    { from, to, after }: ReconcilePeriod,
    context: CommandContext,
  ): Promise<Reconciled> {
    if (after !== null && !z.uuid().safeParse(after).success) invalid('after', 'is no `next` of such a call');
    const start = after === null ? {} : { after };
    const page = await orders.placedIn({ from, to }, { limit: ordersMax, ...start });
    const waiting = page.filter(
      ({ provider, status }) => provider === platform.provider && status !== 'refunded',
    );
    const ids = waiting.map(({ id }) => id);
    const isOver = makeIsOver();
    const told = await askEach(ids, isOver, (id) => reconcile(platform, id, { context, isOver }));
    const last = page.length < ordersMax ? null : (page.at(-1)?.id ?? null);
    // The next call begins after the last order that this one asked for.
    return { ...told, next: told.asked === ids.length ? last : (ids[told.asked - 1] ?? after) };
  }

  /**
   * Asks for one order after the other, until the time is over or too many failed. Throws only where the platform did not
   * answer about the first `failedMax` orders: the next call would begin at the same order.
   */
  async function askEach(
    ids: readonly string[],
    isOver: () => boolean,
    ask: (id: string) => Promise<Answers>,
  ): Promise<Omit<Reconciled, 'next'>> {
    const failed: string[] = [];
    let [asked, reported, unanswered] = [0, 0, 0];
    for (const id of ids) {
      // A platform that limits the rate tells nothing of the next orders either.
      if (isOver() || failed.length >= failedMax) break;
      asked += 1;
      const { isTold, isNews, failures } = await ask(id);
      if (isNews) reported += 1;
      if (failures.length > 0) failed.push(id);
      if (!isTold && isRejection<UseCaseRejection>(failures[0], 'platform_unavailable')) unanswered += 1;
      if (unanswered === failedMax && asked === failedMax) throw failures[0];
    }
    return { asked, reported, failed };
  }

  /**
   * Asks about the refunds of an order while there is time, and about the order, also where the platform fails to tell a
   * refund. Refunds that are left out are asked for by the next run.
   */
  async function reconcile(
    platform: Asked<OrderQueries>,
    orderId: string,
    { context, isOver }: { readonly context: CommandContext; readonly isOver: () => boolean },
  ): Promise<Answers> {
    const failures: unknown[] = [];
    let [isTold, isNews] = [false, false];
    for (const refund of await openRefunds(platform.provider, orderId)) {
      if (isOver() || failures.length >= failedMax) break;
      await hear(() => refundIsNews(platform, orderId, { refund, context }));
    }
    await hear(() => orderIsNews(platform, orderId, context));
    return { isTold, isNews, failures };

    async function hear(question: () => Promise<boolean>): Promise<void> {
      try {
        if (await question()) isNews = true;
        isTold = true;
      } catch (error) {
        if (!isRejection<UseCaseRejection>(error, 'platform_unavailable', 'payment_refused')) throw error;
        failures.push(error);
      }
    }
  }

  /** Returns whether no report has told the end of a refund that the service asked for. */
  async function isOpen(orderId: string, provider: PaymentProviderName, refundId: string): Promise<boolean> {
    return (await openRefunds(provider, orderId)).some(({ refund }) => refund === refundId);
  }

  /** Asks a platform that lists no reports about an order and its refunds. @throws CommandRejected platform_unavailable */
  async function askForRefund(
    orderId: string,
    provider: PaymentProviderName,
    context: CommandContext,
  ): Promise<void> {
    const asks = paymentMakers.get(provider)?.asks;
    if (asks === undefined || 'listReports' in asks) return;
    const { failures } = await reconcile({ provider, asks }, orderId, { context, isOver: () => false });
    for (const failure of failures)
      if (isRejection<UseCaseRejection>(failure, 'platform_unavailable')) throw failure;
  }

  async function refundIsNews(
    platform: Asked<OrderQueries>,
    orderId: string,
    { refund, context }: { readonly refund: AskedRefund; readonly context: CommandContext },
  ): Promise<boolean> {
    const { transaction_id: transactionId, refund: refundId } = refund;
    const asked = { orderNumber: orderNumber(orderId), transactionId, refundId };
    const queried = await ask(platform, (asks) => asks.queryRefund(asked));
    return accept(platform, queried, stepContext(context, `${orderId}/${refundId}`));
  }

  async function orderIsNews(
    platform: Asked<OrderQueries>,
    orderId: string,
    context: CommandContext,
  ): Promise<boolean> {
    const queried = await ask(platform, (asks) => asks.query(orderNumber(orderId)));
    const isKnown =
      queried.kind === 'refunded' && (await knowsRefund(platform, orderId, queried.transactionId));
    return !isKnown && accept(platform, queried, stepContext(context, orderId));
  }

  function ask(
    { provider, asks }: Asked<OrderQueries>,
    question: (asks: OrderQueries) => Promise<QueriedPayment>,
  ): Promise<QueriedPayment> {
    return askPlatform({ provider, work: 'tell the state of an order' }, () => question(asks), onFailure);
  }

  async function accept(
    { provider }: Asked<OrderQueries>,
    queried: QueriedPayment,
    context: CommandContext,
  ): Promise<boolean> {
    return queried.kind !== 'unknown' && acceptNews(provider, queried.report, context);
  }

  /** Returns the refunds that the service asked for, and of which no report has told the end. */
  async function openRefunds(
    provider: PaymentProviderName,
    orderId: string,
  ): Promise<readonly AskedRefund[]> {
    const { refunds } = (await handler.load(checkoutAggregate, orderId)).state;
    const asked = refunds.filter((one) => one.provider === provider && one.outcome !== 'refused');
    if (asked.length === 0) return [];
    const ledgers = await ledgersOf(orderId);
    const ended = ledgers.flatMap((ledger) => ledger.refunds).filter(({ status }) => status !== 'pending');
    return asked.filter(({ refund }) => !ended.some(({ id }) => id === refund));
  }

  async function knowsRefund(
    { provider }: Asked<OrderQueries>,
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
