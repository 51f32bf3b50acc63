/**
 * What platforms have said of an order. Every way of adding to it is commutative, associative and idempotent, so whatever the
 * order of arrival, the same messages make the same facts (DESIGN 3, "Orders keep facts").
 */
export interface OrderFacts {
  readonly isPending: boolean;
  readonly ends: ReadonlySet<'failed' | 'expired' | 'canceled'>;
  readonly transactions: ReadonlyMap<string, TransactionFacts>;
}

export interface TransactionFacts {
  /** By currency: a payment that an operator has taken for the order's may be in another than the order's. */
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** By the platform's id; `lost` and `won` end a dispute. */
  readonly disputes: ReadonlyMap<string, Dispute>;
}

/** What was paid by a transaction and given back of it, in one currency. */
export interface Ledger {
  /** Minor units of what was paid; null until it is known to be for the order. */
  readonly captured: number | null;
  /** By the platform's id. */
  readonly refunds: ReadonlyMap<string, Refund>;
  /** The latest figure of all refunds together. */
  readonly refundedInTotal: Figure | null;
}

export interface Refund {
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly amount: number;
  /** The platform's time, epoch milliseconds. */
  readonly atMs: number;
}

export interface Figure {
  readonly amount: number;
  readonly atMs: number;
}

export interface Dispute {
  readonly status: 'open' | 'won' | 'lost';
  readonly atMs: number;
}

/** Minor units of a currency. */
export interface Money {
  readonly amount: number;
  readonly currency: string;
}

export const noFacts: OrderFacts = { isPending: false, ends: new Set(), transactions: new Map() };
const noTransaction: TransactionFacts = { ledgers: new Map(), disputes: new Map() };
const noLedger: Ledger = { captured: null, refunds: new Map(), refundedInTotal: null };

export function withPending(facts: OrderFacts): OrderFacts {
  return { ...facts, isPending: true };
}

export function withEnd(facts: OrderFacts, end: 'failed' | 'expired' | 'canceled'): OrderFacts {
  return { ...facts, ends: new Set(facts.ends).add(end) };
}

export function withCapture(facts: OrderFacts, transactionId: string, paid: Money): OrderFacts {
  return withLedger(facts, transactionId, paid.currency, (known) => ({
    ...known,
    captured: Math.max(known.captured ?? 0, paid.amount),
  }));
}

export function withRefund(
  facts: OrderFacts,
  transactionId: string,
  { refundId, currency, ...refund }: Refund & { readonly refundId: string; readonly currency: string },
): OrderFacts {
  return withLedger(facts, transactionId, currency, (known) => ({
    ...known,
    refunds: new Map(known.refunds).set(refundId, laterRefund(known.refunds.get(refundId), refund)),
  }));
}

export function withRefundedInTotal(
  facts: OrderFacts,
  transactionId: string,
  { currency, ...figure }: Figure & { readonly currency: string },
): OrderFacts {
  return withLedger(facts, transactionId, currency, (known) => ({
    ...known,
    refundedInTotal: laterFigure(known.refundedInTotal, figure),
  }));
}

export function withDispute(
  facts: OrderFacts,
  transactionId: string,
  { disputeId, ...dispute }: Dispute & { readonly disputeId: string },
): OrderFacts {
  return withTransaction(facts, transactionId, (known) => ({
    ...known,
    disputes: new Map(known.disputes).set(disputeId, laterDispute(known.disputes.get(disputeId), dispute)),
  }));
}

function withLedger(
  facts: OrderFacts,
  transactionId: string,
  currency: string,
  change: (known: Ledger) => Ledger,
): OrderFacts {
  return withTransaction(facts, transactionId, (known) => {
    const ledger = change(known.ledgers.get(currency) ?? noLedger);
    return { ...known, ledgers: new Map(known.ledgers).set(currency, ledger) };
  });
}

function withTransaction(
  facts: OrderFacts,
  transactionId: string,
  change: (known: TransactionFacts) => TransactionFacts,
): OrderFacts {
  const known = facts.transactions.get(transactionId) ?? noTransaction;
  return { ...facts, transactions: new Map(facts.transactions).set(transactionId, change(known)) };
}

const refundRank = { pending: 0, succeeded: 1, failed: 2 } as const;

/** The platform's time decides, then failed over succeeded over pending, then the larger amount. */
function laterRefund(known: Refund | undefined, heard: Refund): Refund {
  if (known === undefined) return heard;
  if (known.atMs !== heard.atMs) return known.atMs > heard.atMs ? known : heard;
  if (known.status !== heard.status) {
    return refundRank[known.status] > refundRank[heard.status] ? known : heard;
  }
  return known.amount >= heard.amount ? known : heard;
}

/** The platform's time decides, then the larger amount. */
function laterFigure(known: Figure | null, heard: Figure): Figure {
  if (known === null) return heard;
  if (known.atMs !== heard.atMs) return known.atMs > heard.atMs ? known : heard;
  return known.amount >= heard.amount ? known : heard;
}

const disputeRank = { open: 0, won: 1, lost: 2 } as const;

/** A dispute that has ended does not open again; of two ends the platform's time decides, then lost over won. */
function laterDispute(known: Dispute | undefined, heard: Dispute): Dispute {
  if (known === undefined) return heard;
  if ((known.status === 'open') !== (heard.status === 'open')) return known.status === 'open' ? heard : known;
  if (known.atMs !== heard.atMs) return known.atMs > heard.atMs ? known : heard;
  return disputeRank[known.status] >= disputeRank[heard.status] ? known : heard;
}

/**
 * What was given back: the larger of the refunds that succeeded, and the latest total less the refunds that failed after it.
 * Never more than was captured, once that is known.
 */
export function refundedOf({ captured, refunds, refundedInTotal }: Ledger): number {
  const all = [...refunds.values()];
  const succeeded = sum(all.filter(({ status }) => status === 'succeeded'));
  const failedSince = sum(
    all.filter(({ status, atMs }) => status === 'failed' && atMs > (refundedInTotal?.atMs ?? Infinity)),
  );
  const refunded = Math.max(succeeded, (refundedInTotal?.amount ?? 0) - failedSince);
  return captured === null ? refunded : Math.min(refunded, captured);
}

/** Whether all that was paid was given back. Of nothing, which an operator may have taken for a payment, nothing can be. */
export function isGivenBack(ledger: Ledger): boolean {
  const refunded = refundedOf(ledger);
  return ledger.captured !== null && refunded > 0 && refunded >= ledger.captured;
}

export function isCaptured({ ledgers }: TransactionFacts): boolean {
  return [...ledgers.values()].some(({ captured }) => captured !== null);
}

export function hasDispute({ disputes }: TransactionFacts, status: Dispute['status']): boolean {
  return [...disputes.values()].some((dispute) => dispute.status === status);
}

/** Whether a capture stands: it was neither given back in full nor lost in a dispute. */
export function stands(transaction: TransactionFacts): boolean {
  const isKept = [...transaction.ledgers.values()].some(
    (ledger) => ledger.captured !== null && !isGivenBack(ledger),
  );
  return isKept && !hasDispute(transaction, 'lost');
}

function sum(items: readonly { readonly amount: number }[]): number {
  return items.reduce((total, { amount }) => total + amount, 0);
}
