import { parseOrderNumber } from '../../src/domain/order/number.js';
import type { Page, ViewDocument, Views } from '../../src/event-sourcing/views/views.js';
import type { Sealer } from '../../src/keys/sealer.js';
import { ordersProjection } from '../orders/projection.js';
import type { DecisionEntry } from '../payment-decisions/entry.js';
import { openDecisions, openRecord } from '../payment-decisions/reader.js';
import { type PaymentCallbackDocument, paymentCallbacksProjection } from './projection.js';
import { resourceOf } from '../resource-of.js';
import { paymentCallbackResource, type PaymentCallbackResource, type UnmatchedResource } from './resource.js';

/** @throws StoreUnavailable */
export interface PaymentCallbackReader {
  /** Lists the callbacks that wait, oldest first. @param page `after`: see `unmatchedPlace` */
  unmatched(page: Page): Promise<readonly UnmatchedResource[]>;
  /** Returns null if no callback was accepted under this name. */
  find(callbackId: string): Promise<PaymentCallbackResource | null>;
  /** Lists the callbacks whose first transaction has this id, by id; at most 100. */
  ofTransaction(transactionId: string): Promise<readonly PaymentCallbackResource[]>;
}

const foundMax = 100;

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
        return reason === null
          ? []
          : [{ id, provider, is_ours, notifications: [...notifications], reason, received_at }];
      });
    },
    find: async (callbackId) => {
      const found = await callbacks.get(callbackId);
      return found === null ? null : shown(found);
    },
    ofTransaction: async (transactionId) => {
      const where = { field: 'transaction_id', equals: transactionId };
      return Promise.all((await callbacks.find({ where, limit: foundMax })).map(shown));
    },
  };

  async function shown(found: ViewDocument<PaymentCallbackDocument>): Promise<PaymentCallbackResource> {
    const { id, body } = found;
    const entries = body.decision === null ? [] : [body.decision];
    const decisions = await openDecisions(sealer, [...entries, ...(await decidedInReview(found))]);
    const recorded = body.recorded === null ? null : await openRecord(sealer, id, body.recorded);
    const notifications = [...body.notifications];
    return resourceOf(paymentCallbackResource, { id, ...body, notifications, recorded, decisions });
  }

  /** Returns the decisions on the callback's facts, from the orders that it names or was settled with. */
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

/** Returns a callback's place in the list of those that wait: by time of receipt, then by id. */
export function unmatchedPlace({ received_at, id }: Pick<UnmatchedResource, 'received_at' | 'id'>): string {
  return `${received_at}/${id}`;
}

function parsePlace(place: string): { readonly value: string; readonly id: string } {
  const end = place.indexOf('/');
  return { value: place.slice(0, end), id: place.slice(end + 1) };
}
