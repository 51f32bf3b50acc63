import { orderNumber } from '../../../src/areas/payments/domain/payment-ids.js';
import { unusedPayments } from '../../../src/areas/payments/domain/order/unused.js';
import { moneyOf, type PaymentFact } from '../../../src/areas/payments/domain/fact.js';
import type { ViewDocument } from '../../../src/event-sourcing/views/views.js';
import type { OrderDocument } from './projection.js';
import type { PaymentEntry, ReviewResource } from './resource.js';

/** Returns the mismatches of the order and its payments that bought nothing, in order of id. */
export function reviewsOf({ id: orderId, body }: ViewDocument<OrderDocument>): readonly ReviewResource[] {
  const ofOrder = {
    order_id: orderId,
    order_number: orderNumber(orderId),
    expected_amount: body.amount,
    expected_currency: body.currency,
  };
  const mismatches = body.mismatches.map(({ fact, ...mismatch }) => {
    return { ...mismatch, ...ofOrder, kind: kindOf(fact), ...moneyOf(fact) };
  });
  const unused = unusedPayments(body).map(({ transaction: _key, is_applied: _applied, ...payment }) => {
    return { ...payment, ...ofOrder, kind: payment.reason === 'partial_loss' ? 'lost' : 'paid' } as const;
  });
  return [...mismatches, ...unused].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns a mismatch's place in the list of all: orders by age, then the mismatches of one by id. */
export function reviewPlace({ order_id: orderId, id }: Pick<ReviewResource, 'order_id' | 'id'>): string {
  return `${orderId}/${id}`;
}

/** @throws Error for a fact that is never a mismatch */
function kindOf(fact: PaymentFact): PaymentEntry['kind'] {
  switch (fact.kind) {
    case 'refund':
      return fact.status === 'reversed' ? 'lost' : 'refund';
    case 'refunded-in-total':
      return 'refund';
    case 'dispute':
      return fact.status === 'open' ? 'disputed' : fact.status;
    case 'paid':
      return fact.kind;
    case 'pending':
    case 'unpaid':
    case 'failed':
    case 'expired':
    case 'canceled':
    case 'approved':
    case 'nothing':
    case 'unreadable':
      throw new Error(`a fact of the kind ${fact.kind} is never a mismatch`);
  }
}
