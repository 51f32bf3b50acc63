import type { Page, Views } from '../../src/event-sourcing/views.js';
import { type PaymentCallbackDocument, paymentCallbacksProjection } from './projection.js';

/** A callback that waits: for its order, for the payment that it speaks of, or for somebody to read it. */
export type UnmatchedResource = Pick<PaymentCallbackDocument, 'provider' | 'is_ours' | 'notifications'> & {
  readonly id: string;
  readonly reason: NonNullable<PaymentCallbackDocument['held']>;
  readonly received_at: string;
};

/** @throws StoreUnavailable */
export interface PaymentCallbackReader {
  /** In order of id. */
  unmatched(page: Page): Promise<readonly UnmatchedResource[]>;
}

export function makePaymentCallbackReader({ views }: { readonly views: Views }): PaymentCallbackReader {
  const callbacks = views.of(paymentCallbacksProjection);
  return {
    unmatched: async (page) => {
      const documents = await callbacks.find({ where: { field: 'unmatched', equals: 'yes' }, ...page });
      return documents.flatMap(({ id, body }) => {
        const { provider, is_ours, notifications, held: reason, received_at } = body;
        return reason === null ? [] : [{ id, provider, is_ours, notifications, reason, received_at }];
      });
    },
  };
}
