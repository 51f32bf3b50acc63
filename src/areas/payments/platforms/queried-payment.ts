import type { PaymentMaker, RefundRequest } from './payment-maker.js';
import type { VerifiedCallback } from './payment-provider.js';

/** What a platform answers about one order. */
export type QueriedPayment =
  /** Facts that its callbacks report, or should have reported. */
  | { readonly kind: 'reported'; readonly report: VerifiedCallback }
  /**
   * The payment was refunded, and the answer does not name the refunds. The payment alone would grant what may have gone
   * back, so the report tells an operator, where the service knows no refund of the transaction.
   */
  | { readonly kind: 'refunded'; readonly transactionId: string | null; readonly report: VerifiedCallback }
  /** The platform has no payment of the order, or none with an outcome yet. */
  | { readonly kind: 'unknown' };

/** A refund that the service asked for, under its number. */
export type AskedForRefund = Pick<RefundRequest, 'orderNumber' | 'transactionId'> & {
  readonly refundId: string;
};

/** A platform that can be asked about one order. */
export interface QueryingMaker extends PaymentMaker {
  /** @throws PlatformError */
  query(orderNumber: string): Promise<QueriedPayment>;
  /** Asks for the state of a refund. `unknown`: the platform has not made it, or not yet. @throws PlatformError */
  queryRefund(refund: AskedForRefund): Promise<QueriedPayment>;
}

/** A page of a platform's list. */
interface ListedReports {
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
