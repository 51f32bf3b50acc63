import { parseOrderNumber } from '../../src/domain/order/number.js';
import type { Page, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import type { Sealer } from '../../src/keys/sealer.js';
import { ordersProjection } from '../orders/projection.js';
import type { DecisionEntry } from '../payment-decisions/entry.js';
import { type DecisionResource, openDecisions } from '../payment-decisions/reader.js';
import { type PaymentCallbackDocument, paymentCallbacksProjection } from './projection.js';

/** A callback that waits: for its order, for the payment that it speaks of, or for somebody to read it. */
export type UnmatchedResource = Pick<PaymentCallbackDocument, 'provider' | 'is_ours' | 'notifications'> & {
  readonly id: string;
  readonly reason: NonNullable<PaymentCallbackDocument['held']>;
  readonly received_at: string;
};

/** A callback, what has become of it, and what operators have decided on it or on what it tells. */
export type PaymentCallbackResource = Pick<
  PaymentCallbackDocument,
  'provider' | 'is_ours' | 'notifications' | 'held' | 'disposition' | 'order_id' | 'conflicts' | 'received_at'
> & { readonly id: string; readonly decisions: readonly DecisionResource[] };

/** @throws StoreUnavailable */
export interface PaymentCallbackReader {
  /** The longest received first. @param page `after`: see `unmatchedPlace` */
  unmatched(page: Page): Promise<readonly UnmatchedResource[]>;
  /** Null when none was accepted under this name. */
  find(callbackId: string): Promise<PaymentCallbackResource | null>;
}

export function makePaymentCallbackReader({
  views,
  sealer,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
}): PaymentCallbackReader {
  const callbacks = views.of(paymentCallbacksProjection);
  const orders = views.of(ordersProjection);
  return {
    unmatched: async ({ after, limit }) => {
      const place = after === undefined ? {} : { after: parsePlace(after) };
      const documents = await callbacks.findInOrder({ orderBy: 'unmatched_since', ...place, limit });
      return documents.flatMap(({ id, body }) => {
        const { provider, is_ours, notifications, held: reason, received_at } = body;
        return reason === null ? [] : [{ id, provider, is_ours, notifications, reason, received_at }];
      });
    },
    find: async (callbackId) => {
      const found = await callbacks.get(callbackId);
      if (found === null) return null;
      const { provider, is_ours, notifications, held, disposition, order_id, conflicts, received_at } =
        found.body;
      const entries = [...(found.body.decision === null ? [] : [found.body.decision])];
      entries.push(...(await decidedInReview(found)));
      return {
        ...{ id: callbackId, provider, is_ours, notifications, held, disposition, order_id, conflicts },
        ...{ received_at, decisions: await openDecisions(sealer, entries) },
      };
    },
  };

  /** On what it tells; that stands with the orders to which it has led. */
  async function decidedInReview({
    id,
    body,
  }: ViewDocument<PaymentCallbackDocument>): Promise<readonly DecisionEntry[]> {
    const named = body.notifications.map(({ order_number: number }) =>
      number === null ? null : parseOrderNumber(number),
    );
    const ids = new Set([...named, body.order_id].filter((orderId) => orderId !== null));
    const documents = await Promise.all([...ids].map((orderId) => orders.get(orderId)));
    return documents
      .flatMap((document) => document?.body.decisions ?? [])
      .filter(({ payment_id }) => payment_id.startsWith(`${id}.`));
  }
}

/** Where a callback stands in the list of those that wait: by when it was received, then by id. */
export function unmatchedPlace({ received_at, id }: Pick<UnmatchedResource, 'received_at' | 'id'>): string {
  return `${received_at}/${id}`;
}

function parsePlace(place: string): { readonly value: string; readonly id: string } {
  const end = place.indexOf('/');
  return { value: place.slice(0, end), id: place.slice(end + 1) };
}
