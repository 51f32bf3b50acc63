import { isDeepStrictEqual } from 'node:util';
import type { LedgerEntry } from './payment-ledger.js';

/** What a platform has said of an order and is not what was ordered. */
export interface Mismatch {
  readonly name: string;
  readonly reason: 'merchant' | 'transaction_of_another_order' | 'price';
  readonly entry: LedgerEntry;
}

/**
 * What operators' decisions make of mismatches (decision 0017): a decision on a payment is one on all that is told of it. Its refunds
 * and disputes count with it, and it told again is known.
 * @param reviews by the name of what was decided on
 * @returns `waiting`: names of those that nobody has decided on; `entries`: what counts for the order
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
