import { isDeepStrictEqual } from 'node:util';
import type { LedgerEntry } from './payment-ledger.js';

/** A report on an order that does not match the order. */
export interface Mismatch {
  readonly name: string;
  readonly reason: 'merchant' | 'transaction_of_another_order' | 'price';
  readonly entry: LedgerEntry;
}

/**
 * Applies the decisions of operators to mismatches (docs/decisions/settlement.md#0019-decisions-of-operators): a
 * decision on a payment holds for all its refunds and disputes, and for repeated reports of it.
 * @param reviews the decisions by the name of the notification
 * @returns `waiting`: the names of undecided mismatches; `entries`: the facts that count for the order
 */
export function reviewOf(
  mismatches: readonly Mismatch[],
  reviews: ReadonlyMap<string, 'apply' | 'dismiss'>,
): { readonly waiting: readonly string[]; readonly entries: readonly LedgerEntry[] } {
  const decided = mismatches.filter(
    ({ name, reason, entry }) =>
      reviews.has(name) && entry.fact.kind === 'paid' && reason !== 'transaction_of_another_order',
  );
  const waiting: string[] = [];
  const entries: LedgerEntry[] = [];
  for (const { name, reason, entry } of mismatches) {
    const { fact, transaction } = entry;
    const action = reviews.get(name);
    const payments = decided.filter((other) => other.entry.transaction === transaction);
    if (action !== undefined) {
      if (action === 'apply') entries.push(entry);
    } else if (payments.length === 0 || reason === 'transaction_of_another_order') {
      waiting.push(name);
    } else if (fact.kind === 'paid') {
      if (!payments.some((payment) => isDeepStrictEqual(payment.entry.fact, fact))) waiting.push(name);
    } else if (fact.kind === 'refund' || fact.kind === 'refunded-in-total' || fact.kind === 'dispute') {
      entries.push(entry);
    }
  }
  return { waiting, entries };
}
