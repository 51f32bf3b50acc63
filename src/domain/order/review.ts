import { isDeepStrictEqual } from 'node:util';
import type { PaymentProviderName, RecordedFact } from '../payment.js';
import type { OrderEvent } from './events.js';
import {
  type Money,
  type OrderFacts,
  withCapture,
  withDispute,
  withRefund,
  withRefundedInTotal,
} from './facts.js';

/** Something genuine that is not what was ordered, and that nobody has decided on. */
export interface Mismatch {
  readonly reason: Extract<OrderEvent, { type: 'PaymentMismatchFound' }>['data']['reason'];
  readonly provider: PaymentProviderName;
  readonly transactionId: string | null;
  readonly fact: RecordedFact;
  readonly atMs: number;
}

/**
 * What waits for people, and what they have decided. A decision on a payment is one on all that is told of it: refunds and
 * disputes are facts of its transaction from then on, those that waited too, and count where the payment does. They would
 * otherwise be mismatches for the same reason as the payment, one by one.
 */
export interface Review {
  /** By name. */
  readonly mismatches: ReadonlyMap<string, Mismatch>;
  /** The payments that were decided on, by `transactionKey`: a platform may have told of more than one. */
  readonly decided: ReadonlyMap<string, readonly Money[]>;
}

export const noReview: Review = { mismatches: new Map(), decided: new Map() };

/**
 * A payment among the facts and decisions of an order. Platforms choose their ids without asking each other, so two of them may have one
 * id. A platform that names no transaction has one message for each.
 */
export function transactionKey(
  provider: PaymentProviderName,
  name: string,
  transactionId: string | null,
): string {
  return `${provider}/${transactionId ?? name}`;
}

export function withMismatch<R extends Review>(review: R, name: string, mismatch: Mismatch): R {
  return { ...review, mismatches: new Map(review.mismatches).set(name, mismatch) };
}

/** Whether a decision holds for this already, so that nobody needs to look at it. */
export function isCovered(
  { decided }: Pick<Review, 'decided'>,
  name: string,
  { provider, reason, transactionId, fact }: Omit<Mismatch, 'atMs'>,
): boolean {
  if (reason === 'transaction_of_another_order' || reason === 'too_many_reports') return false;
  const known = decided.get(transactionKey(provider, name, transactionId));
  if (known === undefined) return false;
  if (fact.kind !== 'paid') return true;
  return known.some((payment) => isDeepStrictEqual(payment, moneyOf(fact)));
}

/** Whether it is a payment that could be taken for the order's; one transaction never pays two. */
export function isApplicable({ reason, fact }: Mismatch): boolean {
  return fact.kind === 'paid' && reason !== 'transaction_of_another_order';
}

/** After a decision on the mismatch of this name. */
export function afterDecision<R extends Review & { readonly facts: OrderFacts }>(
  order: R,
  name: string,
  action: 'apply' | 'dismiss',
): R {
  const decidedOn = order.mismatches.get(name);
  if (decidedOn === undefined) return order;
  const { fact, transactionId, provider } = decidedOn;
  const mismatches = new Map(order.mismatches);
  mismatches.delete(name);
  if (fact.kind !== 'paid' || !isApplicable(decidedOn)) return { ...order, mismatches };
  const transaction = transactionKey(provider, name, transactionId);
  const paid = moneyOf(fact);
  const payments = [...(order.decided.get(transaction) ?? []), paid];
  const decided = new Map(order.decided).set(transaction, payments);
  let facts = action === 'apply' ? withCapture(order.facts, transaction, paid) : order.facts;
  for (const [otherName, other] of mismatches) {
    const isOfIt = transactionKey(other.provider, otherName, other.transactionId) === transaction;
    if (!isOfIt || !isCovered({ decided }, otherName, other)) continue;
    mismatches.delete(otherName);
    facts = withMoneyFact(facts, transaction, other.fact, other.atMs);
  }
  return { ...order, mismatches, decided, facts };
}

/** Refunds and disputes, in whatever currency; what else is told of a transaction changes nothing once it is decided on. */
export function withMoneyFact(
  facts: OrderFacts,
  transaction: string,
  fact: RecordedFact,
  atMs: number,
): OrderFacts {
  switch (fact.kind) {
    case 'refund': {
      const { refund_id: refundId, status, amount, currency } = fact;
      return withRefund(facts, transaction, { refundId, status, amount, currency, atMs });
    }
    case 'refunded-in-total':
      return withRefundedInTotal(facts, transaction, { ...moneyOf(fact), atMs });
    case 'dispute':
      return withDispute(facts, transaction, { disputeId: fact.dispute_id, status: fact.status, atMs });
    case 'paid':
    case 'pending':
    case 'failed':
    case 'expired':
    case 'canceled':
    case 'nothing':
    case 'unreadable':
      return facts;
  }
}

function moneyOf({ amount, currency }: Money): Money {
  return { amount, currency };
}
