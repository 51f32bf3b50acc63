import type { OrderFacts, TransactionFacts } from '../../src/domain/order/facts.js';

/** `OrderFacts` as a document keeps them: lists of entries for maps and sets. */
export type FactsDocument = {
  readonly is_pending: boolean;
  readonly ends: readonly ('failed' | 'expired' | 'canceled')[];
  readonly transactions: readonly TransactionDocument[];
};

type TransactionDocument = {
  readonly id: string;
  readonly captured: number | null;
  readonly refunds: readonly {
    readonly id: string;
    readonly status: 'pending' | 'succeeded' | 'failed';
    readonly amount: number;
    readonly at_ms: number;
  }[];
  readonly refunded_in_total: { readonly amount: number; readonly at_ms: number } | null;
  readonly disputes: readonly {
    readonly id: string;
    readonly status: 'open' | 'won' | 'lost';
    readonly at_ms: number;
  }[];
};

export function toFactsDocument({ isPending, ends, transactions }: OrderFacts): FactsDocument {
  return {
    is_pending: isPending,
    ends: [...ends],
    transactions: [...transactions].map(([id, facts]) => toTransactionDocument(id, facts)),
  };
}

function toTransactionDocument(
  id: string,
  { captured, refunds, refundedInTotal, disputes }: TransactionFacts,
): TransactionDocument {
  return {
    id,
    captured,
    refunds: [...refunds].map(([refundId, { status, amount, atMs }]) => ({
      id: refundId,
      status,
      amount,
      at_ms: atMs,
    })),
    refunded_in_total:
      refundedInTotal === null ? null : { amount: refundedInTotal.amount, at_ms: refundedInTotal.atMs },
    disputes: [...disputes].map(([disputeId, { status, atMs }]) => ({ id: disputeId, status, at_ms: atMs })),
  };
}

export function fromFactsDocument({ is_pending, ends, transactions }: FactsDocument): OrderFacts {
  return {
    isPending: is_pending,
    ends: new Set(ends),
    transactions: new Map(transactions.map((transaction) => [transaction.id, fromTransaction(transaction)])),
  };
}

function fromTransaction(document: TransactionDocument): TransactionFacts {
  const { captured, refunds, refunded_in_total: total, disputes } = document;
  return {
    captured,
    refunds: new Map(refunds.map(({ id, status, amount, at_ms }) => [id, { status, amount, atMs: at_ms }])),
    refundedInTotal: total === null ? null : { amount: total.amount, atMs: total.at_ms },
    disputes: new Map(disputes.map(({ id, status, at_ms }) => [id, { status, atMs: at_ms }])),
  };
}
