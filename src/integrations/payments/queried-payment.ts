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

export function canBeQueried(maker: PaymentMaker): maker is QueryingMaker {
  return 'query' in maker;
}
