import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { ListingMaker } from '../../platforms/queried-payment.js';
import type { PaymentDeps } from '../../deps.js';
import type { AcceptNews } from '../callbacks/accept-news.js';
import { askPlatform } from './ask-platform.js';
import { type Reconciled, type ReconcilePeriod, reconcilingMs } from './reconcile-period.js';

/**
 * Asks a platform for the list of what it reported in a period, and accepts each report that never came. A call reads 20
 * pages at most. Where its time ends within a page, the next call reads the page again: what is known changes nothing.
 */
export type ReconcileReports = (
  maker: ListingMaker,
  period: ReconcilePeriod,
  context: CommandContext,
) => Promise<Reconciled>;

const pagesMax = 20;

export function makeReconcileReports({
  clock,
  onFailure,
  acceptNews,
}: Pick<PaymentDeps, 'clock' | 'onFailure'> & { readonly acceptNews: AcceptNews }): ReconcileReports {
  return async (maker, { after, ...period }, context) => {
    const { provider } = maker;
    const endMs = clock.now().getTime() + reconcilingMs;
    const isOver = (): boolean => clock.now().getTime() > endMs;
    let [asked, reported, place] = [0, 0, after];
    for (let page = 0; page < pagesMax; page += 1) {
      const { reports, next } = await askPlatform(
        { provider, work: 'list what it reported' },
        () => maker.listReports(period, place),
        onFailure,
      );
      for (const report of reports) {
        if (isOver()) return { asked, reported, failed: [], next: place };
        asked += 1;
        if (await acceptNews(provider, report, stepContext(context, report.key))) reported += 1;
      }
      place = next;
      if (place === null || isOver()) break;
    }
    return { asked, reported, failed: [], next: place };
  };
}
