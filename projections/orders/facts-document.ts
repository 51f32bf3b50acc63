import type { Dispute, Ledger, OrderFacts } from '../../src/domain/order/facts.js';

/** `OrderFacts` as a document keeps them: lists of entries for maps and sets. */
export type FactsDocument = {
  readonly is_pending: boolean;
  readonly ends: readonly ('failed' | 'expired' | 'canceled')[];
  readonly transactions: readonly TransactionDocument[];
};

type TransactionDocument = {
  readonly id: string;
  readonly ledgers: readonly LedgerDocument[];
  readonly disputes: readonly {
    readonly id: string;
    readonly status: 'open' | 'won' | 'lost';
    readonly at_ms: number;
  }[];
};

type LedgerDocument = {
  readonly currency: string;
  readonly captured: number | null;
  readonly refunds: readonly {
    readonly id: string;
    readonly status: 'pending' | 'succeeded' | 'failed';
    readonly amount: number;
    readonly at_ms: number;
  }[];
  readonly refunded_in_total: { readonly amount: number; readonly at_ms: number } | null;
};

export function toFactsDocument({ isPending, ends, transactions }: OrderFacts): FactsDocument {
  return {
    is_pending: isPending,
    ends: [...ends],
    transactions: [...transactions].map(([id, { ledgers, disputes }]) => ({
      id,
      ledgers: [...ledgers].map(([currency, ledger]) => toLedgerDocument(currency, ledger)),
      disputes: [...disputes].map(([disputeId, { status, atMs }]) => ({
        id: disputeId,
        status,
        at_ms: atMs,
      })),
    })),
  };
}

function toLedgerDocument(currency: string, { captured, refunds, refundedInTotal }: Ledger): LedgerDocument {
  return {
    currency,
    captured,
    refunds: [...refunds].map(([id, { status, amount, atMs }]) => ({ id, status, amount, at_ms: atMs })),
    refunded_in_total:
      refundedInTotal === null ? null : { amount: refundedInTotal.amount, at_ms: refundedInTotal.atMs },
  };
}

export function fromFactsDocument({ is_pending, ends, transactions }: FactsDocument): OrderFacts {
  return {
    isPending: is_pending,
    ends: new Set(ends),
    transactions: new Map(
      transactions.map(({ id, ledgers, disputes }) => [
        id,
        {
          ledgers: new Map(ledgers.map((ledger) => [ledger.currency, fromLedger(ledger)])),
          disputes: new Map(disputes.map((dispute) => [dispute.id, fromDispute(dispute)])),
        },
      ]),
    ),
  };
}

function fromLedger({ captured, refunds, refunded_in_total: total }: LedgerDocument): Ledger {
  return {
    captured,
    refunds: new Map(refunds.map(({ id, status, amount, at_ms }) => [id, { status, amount, atMs: at_ms }])),
    refundedInTotal: total === null ? null : { amount: total.amount, atMs: total.at_ms },
  };
}

function fromDispute({ status, at_ms }: TransactionDocument['disputes'][number]): Dispute {
  return { status, atMs: at_ms };
}
