import type { Mismatch, Review } from '../../src/domain/order/review.js';
import type { PaymentProviderName, RecordedFact } from '../../src/domain/payment.js';

/** `Review` as a document keeps it. */
export type ReviewDocument = {
  readonly mismatches: readonly MismatchEntry[];
  readonly decided: readonly DecidedEntry[];
};

/** `id`: what names it to whoever resolves it. `at`: by the platform's clock. */
export type MismatchEntry = {
  readonly id: string;
  readonly provider: PaymentProviderName;
  readonly reason: Mismatch['reason'];
  readonly transaction_id: string | null;
  readonly fact: RecordedFact;
  readonly at: string;
};

/** `transaction`: see `transactionKey`. */
type DecidedEntry = {
  readonly transaction: string;
  readonly payments: readonly { readonly amount: number; readonly currency: string }[];
};

export function toReviewDocument({ mismatches, decided }: Review): ReviewDocument {
  return {
    mismatches: [...mismatches].map(([id, { provider, reason, transactionId, fact, atMs }]) => ({
      id,
      provider,
      reason,
      transaction_id: transactionId,
      fact,
      at: new Date(atMs).toISOString(),
    })),
    decided: [...decided].map(([transaction, payments]) => ({ transaction, payments })),
  };
}

export function fromReviewDocument({ mismatches, decided }: ReviewDocument): Review {
  return {
    mismatches: new Map(mismatches.map((entry) => [entry.id, toMismatch(entry)])),
    decided: new Map(decided.map(({ transaction, payments }) => [transaction, payments])),
  };
}

function toMismatch({ provider, reason, transaction_id: transactionId, fact, at }: MismatchEntry): Mismatch {
  return { provider, reason, transactionId, fact, atMs: Date.parse(at) };
}

/** What of it is money; null where none is named. */
export function moneyOf(fact: RecordedFact): {
  readonly amount: number | null;
  readonly currency: string | null;
} {
  return 'amount' in fact
    ? { amount: fact.amount, currency: fact.currency }
    : { amount: null, currency: null };
}
