import { orderNumber } from '../../src/domain/order/number.js';
import type { RecordedFact } from '../../src/domain/payment.js';
import type { ViewDocument } from '../../src/event-sourcing/views.js';
import type { OrderDocument, PaymentEntry } from './projection.js';
import { type MismatchEntry, moneyOf } from './review-document.js';

/** Something that waits for an operator's decision: what was reported, beside what was ordered. Amounts in minor units. */
export type ReviewResource = Pick<MismatchEntry, 'id' | 'provider' | 'reason' | 'transaction_id' | 'at'> & {
  readonly order_id: string;
  readonly order_number: string;
  readonly kind: PaymentEntry['kind'];
  readonly amount: number | null;
  readonly currency: string | null;
  readonly expected_amount: number;
  readonly expected_currency: string;
};

/** What of the order waits, in order of id. */
export function reviewsOf({ id: orderId, body }: ViewDocument<OrderDocument>): readonly ReviewResource[] {
  return body.mismatches
    .map(({ fact, ...mismatch }) => ({
      ...mismatch,
      order_id: orderId,
      order_number: orderNumber(orderId),
      kind: kindOf(fact),
      ...moneyOf(fact),
      expected_amount: body.amount,
      expected_currency: body.currency,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Where an item stands in the list of all: orders by age, then the items of one by id. */
export function reviewPlace({ order_id: orderId, id }: Pick<ReviewResource, 'order_id' | 'id'>): string {
  return `${orderId}/${id}`;
}

/** @throws Error for what is never kept for people to decide on */
function kindOf(fact: RecordedFact): PaymentEntry['kind'] {
  switch (fact.kind) {
    case 'refund':
    case 'refunded-in-total':
      return 'refund';
    case 'dispute':
      return fact.status === 'open' ? 'disputed' : fact.status;
    case 'paid':
    case 'pending':
    case 'failed':
    case 'expired':
    case 'canceled':
      return fact.kind;
    case 'nothing':
    case 'unreadable':
      throw new Error('what tells nothing that can be read is no mismatch');
  }
}
