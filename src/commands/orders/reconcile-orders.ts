import { z } from 'zod';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { invalid } from '../../domain/invalid-request.js';
import { orderNumber } from '../../domain/order/number.js';
import type { QueryingMaker } from '../../integrations/payments/queried-payment.js';
import type { Deps } from '../deps.js';
import { isRejection } from '../shared/rejections.js';
import type { AcceptNews } from './accept-news.js';
import { askPlatform } from './ask-platform.js';
import { type Reconciled, type ReconcilePeriod, reconcilingMs } from './reconcile-period.js';

/**
 * Asks a platform for the state of each order of a period that has no payment here. A call looks at 100 orders at most. One
 * order that the platform cannot tell stops no other.
 */
export type ReconcileOrders = (
  maker: QueryingMaker,
  period: ReconcilePeriod,
  context: CommandContext,
) => Promise<Reconciled>;

const pageMax = 100;
const failedMax = 5;
/** An order with another status has a payment, or had one. */
const unpaid: ReadonlySet<string> = new Set(['created', 'pending', 'failed', 'expired', 'canceled']);

export function makeReconcileOrders({
  orders,
  clock,
  onFailure,
  acceptNews,
}: Pick<Deps, 'orders' | 'clock' | 'onFailure'> & { readonly acceptNews: AcceptNews }): ReconcileOrders {
  return async (maker, { from, to, after }, context) => {
    if (after !== null && !z.uuid().safeParse(after).success) invalid('after', 'is no `next` of such a call');
    const start = after === null ? {} : { after };
    const page = await orders.placedIn({ from, to }, { limit: pageMax, ...start });
    const waiting = page.filter(({ provider, status }) => provider === maker.provider && unpaid.has(status));
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

  /** Returns whether the platform reported any news. */
  async function reconcile(maker: QueryingMaker, orderId: string, context: CommandContext): Promise<boolean> {
    const { provider } = maker;
    const queried = await askPlatform(
      { provider, work: 'tell the state of an order' },
      () => maker.query(orderNumber(orderId)),
      onFailure,
    );
    if (queried.kind === 'unknown') return false;
    return acceptNews(provider, queried.report, stepContext(context, orderId));
  }
}

/** Returns whether the error is the platform's, about one order. */
function isOfPlatform(error: unknown): boolean {
  return isRejection(error, 'platform_unavailable') || isRejection(error, 'payment_refused');
}
