import type { Money } from '../domain/fact.js';
import type { VerifiedCallback } from './payment-provider.js';

export { PlatformError } from '../domain/platform-error.js';

/** A payment that a platform shall make for an order. */
export interface PaymentRequest {
  /** The order's number, by which the platform's callbacks name the order. */
  readonly orderNumber: string;
  /** The price of the order. */
  readonly price: Money;
  /** What the buyer reads at the platform, for example the plan's title. At most 100 characters. */
  readonly title: string;
  /** The https address to which the platform sends the buyer afterwards; null: the service's own page. */
  readonly returnUrl: string | null;
  /** Where the platform posts its callbacks: `<PUBLIC_URL>/api/v1/payment/webhooks/<platform>`. */
  readonly callbackUrl: string;
  /** When the order expires. The payment expires then or earlier. */
  readonly expiresAt: Date;
  /** The address of the buyer's client. WeChat Pay's H5 payments need it. */
  readonly clientIp: string;
  /** Whether the buyer uses a phone: decides between a QR code and an app. */
  readonly isMobile: boolean;
  /** The same for every try of one payment (at most 64 characters of `[0-9A-Za-z_-]`). */
  readonly idempotencyKey: string;
}

/** A way for the buyer to pay. */
export type MadePayment = {
  /** When the way ends to work. */
  readonly expiresAt: Date;
  /** The platform's id of what was made, which its callbacks and queries name; null if it gives none before payment. */
  readonly reference: string | null;
} & (
  | { readonly kind: 'redirect'; readonly url: string }
  /** The text that the buyer's app scans. */
  | { readonly kind: 'qr'; readonly url: string }
  /** A form that the buyer's browser posts. */
  | { readonly kind: 'form'; readonly url: string; readonly fields: Readonly<Record<string, string>> }
);

/** A refund that a platform shall make. */
export interface RefundRequest {
  readonly orderNumber: string;
  /** The platform's id of the payment. */
  readonly transactionId: string;
  readonly amount: Money;
  /** What the buyer paid, which some platforms ask for. */
  readonly paid: Money;
  readonly callbackUrl: string;
  /** The same for every try of one refund (at most 64 characters of `[0-9A-Za-z_-]`). */
  readonly idempotencyKey: string;
}

/** A payment that the buyer has approved, and whose money the platform takes on request alone. */
export interface CaptureRequest {
  /** `MadePayment.reference`. */
  readonly reference: string;
  /** The same for every try of one approval (at most 64 characters of `[0-9A-Za-z_-]`). */
  readonly idempotencyKey: string;
}

/**
 * What the service asks one platform to do. Outgoing calls go through the guarded client: 5 s, no redirect, and a retry
 * has the same idempotency key.
 */
export interface PaymentMaker {
  /** @throws PlatformError */
  makePayment(request: PaymentRequest): Promise<MadePayment>;
  /**
   * Takes the money of an approved payment; a repetition takes it once. Absent: the platform takes it by itself.
   * @throws PlatformError
   */
  readonly capture?: (request: CaptureRequest) => Promise<void>;
  /**
   * Returns the platform's id of a refund that it took on. Its callback confirms the refund and moves the order. Absent: the platform
   * has no call for it, or its credentials are not set. @throws PlatformError
   */
  readonly refund?: (request: RefundRequest) => Promise<string>;
  /** By which the service asks what became of payments. Absent: it cannot ask. */
  readonly asks?: OrderQueries | ReportList;
}

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

/** Questions about one order. */
export interface OrderQueries {
  /** @throws PlatformError */
  query(orderNumber: string): Promise<QueriedPayment>;
  /** Asks for the state of a refund. `unknown`: the platform has not made it, or not yet. @throws PlatformError */
  queryRefund(refund: AskedForRefund): Promise<QueriedPayment>;
}

/** A page of a platform's list. */
interface ListedReports {
  /** What its callbacks report, or should have reported. A callback of the same has the same key where that is possible. */
  readonly reports: readonly VerifiedCallback[];
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
}

/** The list of what a platform reported. */
export interface ReportList {
  /**
   * Reads one page of the list. @param after `next` of the page before; null for the first
   * @throws PlatformError; CommandRejected invalid_request for an `after` of another platform
   */
  readonly listReports: (
    period: { readonly from: Date; readonly to: Date },
    after: string | null,
  ) => Promise<ListedReports>;
}
