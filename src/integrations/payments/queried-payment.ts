import type { PaymentMaker } from './payment-maker.js';
import type { VerifiedCallback } from './payment-provider.js';

/** What a platform answers about one order. */
export type QueriedPayment =
  /** Facts that its callbacks report, or should have reported. */
  | { readonly kind: 'reported'; readonly report: VerifiedCallback }
  /** The platform has no payment of the order, or none with an outcome yet. */
  | { readonly kind: 'unknown' };

/** A platform that can be asked about one order. */
export interface QueryingMaker extends PaymentMaker {
  /** @throws PlatformError */
  query(orderNumber: string): Promise<QueriedPayment>;
}

/** A page of a platform's list. */
export interface ListedReports {
  /** What its callbacks report, or should have reported. A callback of the same has the same key where that is possible. */
  readonly reports: readonly VerifiedCallback[];
  /** The place of the next page; null at the end. */
  readonly next: string | null;
}

/** A platform that lists what it reported. */
export interface ListingMaker extends PaymentMaker {
  /**
   * Reads one page of the list. @param after `next` of the page before; null for the first
   * @throws PlatformError; CommandRejected invalid_request for an `after` of another platform
   */
  listReports(
    period: { readonly from: Date; readonly to: Date },
    after: string | null,
  ): Promise<ListedReports>;
}
