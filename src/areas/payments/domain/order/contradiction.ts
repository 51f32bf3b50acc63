import type { MoneyFact } from '../fact.js';
import { type TransactionFacts, refundedOf, succeededOf } from './facts.js';
import type { ReportedFact } from './reported-fact.js';
import { transactionKey } from './review.js';
import type { PlacedOrder } from './fold.js';

/** A fact that an operator records. */
export type RecordedFact = MoneyFact | { readonly kind: 'failed' | 'canceled' };

/**
 * Returns why the report cannot be true beside what the order knows, as a sentence; null when it can. The same report
 * again is no contradiction, and neither is an amount that differs from the price, which is reviewed.
 */
export function contradictionOf(
  order: PlacedOrder,
  { transactionId, at, fact }: Pick<ReportedFact, 'transactionId' | 'at'> & { readonly fact: RecordedFact },
): string | null {
  const key = transactionKey(order.provider, '', transactionId);
  const known = order.facts.transactions.find(({ id }) => id === key);
  switch (fact.kind) {
    case 'paid':
      return paidContradiction(order, { transactionId, fact }, known);
    case 'refund':
    case 'refunded-in-total':
      return refundContradiction(fact, known);
    case 'dispute':
      return disputeContradiction(fact, at, known);
    case 'failed':
    case 'canceled':
      return order.captures.length === 0
        ? null
        : 'the order has a payment, so its payment has not failed; record a refund of it where the money went back';
  }
}

function paidContradiction(
  order: PlacedOrder,
  { transactionId, fact }: { readonly transactionId: string | null; readonly fact: PaidFact },
  known: TransactionFacts | undefined,
): string | null {
  const isOther = ({ amount, currency }: { readonly amount: number; readonly currency: string }): boolean =>
    currency !== fact.currency || amount !== fact.amount;
  const waiting = order.mismatches.some(
    (one) => one.transaction_id === transactionId && one.fact.kind === 'paid' && isOther(one.fact),
  );
  if (waiting) return 'a report of this transaction with another amount waits in review; decide on that one';
  const captured = (known?.ledgers ?? []).flatMap(({ captured: amount, currency }) =>
    amount === null ? [] : [{ amount, currency }],
  );
  // A transaction that charged tax or a discount is also known by the price.
  const isPrice = !isOther(order);
  return captured.length > 0 && !isPrice && captured.every(isOther)
    ? 'the transaction has paid the order with another amount'
    : null;
}

function refundContradiction(fact: RefundFact, known: TransactionFacts | undefined): string | null {
  const ledger = known?.ledgers.find(({ currency }) => currency === fact.currency);
  if (ledger === undefined || ledger.captured === null)
    return 'no payment of this transaction in this currency is known; record the payment first';
  if (fact.amount > ledger.captured)
    return `the refund is more than the payment of ${ledger.captured} minor units`;
  if (fact.kind === 'refunded-in-total') {
    const refunded = refundedOf(ledger);
    return fact.amount < refunded
      ? `${refunded} minor units are refunded already, and a total of refunds does not shrink`
      : null;
  }
  const same = ledger.refunds.find(({ id }) => id === fact.refund_id);
  if (same !== undefined)
    return same.amount === fact.amount ? null : `the refund is known with ${same.amount} minor units`;
  const refunded = succeededOf(ledger);
  return fact.status === 'succeeded' && refunded + fact.amount > ledger.captured
    ? `${refunded} minor units are refunded already, and with this refund they would be more than the payment of ${ledger.captured}`
    : null;
}

function disputeContradiction(
  fact: DisputeFact,
  at: Date,
  known: TransactionFacts | undefined,
): string | null {
  if (known === undefined || known.ledgers.every(({ captured }) => captured === null))
    return 'no payment of this transaction is known; record the payment first';
  const same = known.disputes.find(({ id }) => id === fact.dispute_id);
  if (same === undefined || same.status === 'open' || same.status === fact.status) return null;
  // A later decision of the platform takes an earlier one back.
  return fact.status === 'open' || at.getTime() <= same.at_ms
    ? `the dispute is ${same.status} already`
    : null;
}

type PaidFact = Extract<MoneyFact, { kind: 'paid' }>;
type RefundFact = Extract<MoneyFact, { kind: 'refund' | 'refunded-in-total' }>;
type DisputeFact = Extract<MoneyFact, { kind: 'dispute' }>;
