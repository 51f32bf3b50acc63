import type { z } from 'zod';
import type { Money, refundStatus } from '../fact.js';

/**
 * The platforms' reports on an order, as stored. Additions are commutative, associative and idempotent, so the same
 * messages make the same entries in any order of arrival (src/areas/payments/README.md#orders).
 */
export type OrderFacts = {
  readonly is_pending: boolean;
  readonly ends: readonly OrderEnd[];
  /** Whether the buyer canceled the order. */
  readonly is_withdrawn: boolean;
  readonly attempts: readonly PaymentAttempt[];
  readonly transactions: readonly TransactionFacts[];
};

/**
 * A payment that was made, and the latest times of the platform at which it was pending, at which it failed or was canceled,
 * and at which it expired; epoch ms. `id`: see `transactionKey`.
 */
export type PaymentAttempt = {
  readonly id: string;
  readonly transaction_id: string | null;
  readonly pending_ms: number;
  readonly ended_ms: number;
  readonly expired_ms: number;
};

export type OrderEnd = 'failed' | 'expired' | 'canceled';

/** `id`: see `transactionKey`. */
export type TransactionFacts = {
  readonly id: string;
  /** One per currency: a payment that an operator applied may be in another currency than the order. */
  readonly ledgers: readonly Ledger[];
  /** `lost` and `won` end a dispute. */
  readonly disputes: readonly Dispute[];
};

/** The captured and the refunded money of a transaction in one currency. */
export type Ledger = {
  readonly currency: string;
  /** Minor units; null until a payment is captured or applied. */
  readonly captured: number | null;
  /** Of each id at most one report of a refund and one of a reversal. */
  readonly refunds: readonly Refund[];
  /** The latest total of all refunds. */
  readonly refunded_in_total: Figure | null;
};

/** `id`: the platform's. `reversed`: the platform took the money back, whether it reports a refund of this id or not. */
export type Refund = Figure & { readonly id: string; readonly status: z.infer<typeof refundStatus> };

/** `at_ms`: the platform's time, epoch milliseconds. */
export type Figure = { readonly amount: number; readonly at_ms: number };

/** `id`: the platform's. */
export type Dispute = {
  readonly id: string;
  readonly status: 'open' | 'won' | 'lost';
  readonly at_ms: number;
  /** The disputed money; null: the whole payment. */
  readonly money: Money | null;
};

export const noFacts: OrderFacts = {
  ...{ is_pending: false, ends: [], is_withdrawn: false, attempts: [], transactions: [] },
};
const never = Number.MIN_SAFE_INTEGER;

export function withPending(facts: OrderFacts): OrderFacts {
  return { ...facts, is_pending: true };
}

export function withEnd(facts: OrderFacts, end: OrderEnd): OrderFacts {
  return facts.ends.includes(end) ? facts : { ...facts, ends: [...facts.ends, end] };
}

export function withAttempt(
  facts: OrderFacts,
  { id, transaction_id }: Pick<PaymentAttempt, 'id' | 'transaction_id'>,
  { pending_ms = never, ended_ms = never, expired_ms = never }: Partial<PaymentAttempt>,
): OrderFacts {
  const fresh = { id, transaction_id, pending_ms, ended_ms, expired_ms };
  const later = (known: PaymentAttempt): PaymentAttempt => ({
    ...known,
    pending_ms: Math.max(known.pending_ms, pending_ms),
    ended_ms: Math.max(known.ended_ms, ended_ms),
    expired_ms: Math.max(known.expired_ms, expired_ms),
  });
  return { ...facts, attempts: withEntry(facts.attempts, 'id', fresh, later) };
}

/**
 * Returns the payments that the platform still decides on. The end wins where both have one time. An end without a
 * transaction may be that of any payment, and any end that of a payment without one. But what expires was not paid: a session
 * of Stripe without a transaction expires beside the payment of another session.
 */
export function underWay({ attempts }: OrderFacts): readonly PaymentAttempt[] {
  const endOf = ({ ended_ms, expired_ms }: PaymentAttempt): number => Math.max(ended_ms, expired_ms);
  const unnamedEnd = attempts.find(({ transaction_id }) => transaction_id === null)?.ended_ms ?? never;
  const anyEnd = Math.max(...attempts.map(endOf));
  return attempts.filter(
    (one) => one.pending_ms > (one.transaction_id === null ? anyEnd : Math.max(endOf(one), unnamedEnd)),
  );
}

/** Gives up on the payments that the platform has not decided. */
export function withoutUnderWay(facts: OrderFacts): OrderFacts {
  const givenUp = (one: PaymentAttempt) => ({ ...one, expired_ms: Math.max(one.expired_ms, one.pending_ms) });
  return { ...facts, attempts: facts.attempts.map(givenUp) };
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
  { currency, ...refund }: Refund & { readonly currency: string },
): OrderFacts {
  const isSame = (one: Refund): boolean => one.id === refund.id && isReversal(one) === isReversal(refund);
  return withLedger(facts, transactionId, currency, (known) => ({
    ...known,
    refunds: withSame(known.refunds, refund, isSame, laterRefund),
  }));
}

export function withRefundedInTotal(
  facts: OrderFacts,
  transactionId: string,
  { currency, ...figure }: Figure & { readonly currency: string },
): OrderFacts {
  return withLedger(facts, transactionId, currency, (known) => ({
    ...known,
    refunded_in_total:
      known.refunded_in_total === null ? figure : laterFigure(known.refunded_in_total, figure),
  }));
}

export function withDispute(facts: OrderFacts, transactionId: string, dispute: Dispute): OrderFacts {
  return withTransaction(facts, transactionId, (known) => ({
    ...known,
    disputes: withEntry(known.disputes, 'id', dispute, laterDispute),
  }));
}

function withLedger(
  facts: OrderFacts,
  transactionId: string,
  currency: string,
  change: (known: Ledger) => Ledger,
): OrderFacts {
  const fresh: Ledger = { currency, captured: null, refunds: [], refunded_in_total: null };
  return withTransaction(facts, transactionId, (known) => ({
    ...known,
    ledgers: withEntry(known.ledgers, 'currency', change(fresh), change),
  }));
}

function withTransaction(
  facts: OrderFacts,
  id: string,
  change: (known: TransactionFacts) => TransactionFacts,
): OrderFacts {
  const fresh = change({ id, ledgers: [], disputes: [] });
  return { ...facts, transactions: withEntry(facts.transactions, 'id', fresh, change) };
}

/** Appends a fresh entry, or merges it into the known entry with the same key. */
export function withEntry<Key extends string, Entry extends Readonly<Record<Key, string>>>(
  entries: readonly Entry[],
  key: Key,
  fresh: Entry,
  merge: (known: Entry, fresh: Entry) => Entry,
): readonly Entry[] {
  return withSame(entries, fresh, (entry) => entry[key] === fresh[key], merge);
}

function withSame<Entry>(
  entries: readonly Entry[],
  fresh: Entry,
  isSame: (entry: Entry) => boolean,
  merge: (known: Entry, fresh: Entry) => Entry,
): readonly Entry[] {
  if (!entries.some(isSame)) return [...entries, fresh];
  return entries.map((entry) => (isSame(entry) ? merge(entry, fresh) : entry));
}

/** Makes the rule for two reports of the same: the first rank that differs decides, and the higher one wins. */
function later<Entry>(...ranks: readonly ((entry: Entry) => number | string)[]) {
  return (known: Entry, fresh: Entry): Entry => {
    const rankOf = ranks.find((rank) => rank(known) !== rank(fresh));
    return rankOf === undefined || rankOf(known) > rankOf(fresh) ? known : fresh;
  };
}

const timeOf = ({ at_ms }: { readonly at_ms: number }): number => at_ms;
const amountOf = ({ amount }: Figure): number => amount;
const isReversal = ({ status }: Refund): boolean => status === 'reversed';
const refundRank = { pending: 0, succeeded: 1, failed: 2, reversed: 0 } as const;
const disputeRank = { open: 0, won: 1, lost: 2 } as const;

const laterRefund = later<Refund>(timeOf, ({ status }) => refundRank[status], amountOf);
const laterFigure = later<Figure>(timeOf, amountOf);
/** An ended dispute does not open again. */
const laterDispute = later<Dispute>(
  ({ status }) => (status === 'open' ? 0 : 1),
  timeOf,
  ({ status }) => disputeRank[status],
  disputedRank,
);

/** Orders disputes by amount, and equal amounts by currency, so that the result does not depend on the order of arrival. */
function disputedRank({ money }: Dispute): string {
  return money === null ? '~' : `${String(money.amount).padStart(16, '0')}${money.currency}`;
}

/**
 * Returns the refunded amount, at most the captured one: the larger of the sum of the succeeded refunds and the latest
 * total, less the refunds that failed at the same time or later, and less the reversals that the total covers.
 */
export function refundedOf(ledger: Ledger): number {
  const { captured, refunds, refunded_in_total: total } = ledger;
  const [totalAt, totalAmount] = [total?.at_ms ?? Infinity, total?.amount ?? 0];
  // A total and a failure in one second: Stripe sends a total when a refund is made, and none when it fails.
  const isCovered = ({ status, at_ms }: Refund): boolean =>
    status === 'failed' ? at_ms >= totalAt : status !== 'pending' && at_ms <= totalAt;
  const uncounted = [
    ...unreversed(ledger).filter((one) => one.status === 'failed' && isCovered(one)),
    // The total may cover the refund of the same id, long before the reversal.
    ...refunds.filter(isReversal).filter(({ id }) => refunds.some((one) => one.id === id && isCovered(one))),
  ];
  const refunded = Math.max(succeededOf(ledger), totalAmount - sum(uncounted));
  return captured === null ? refunded : Math.min(refunded, captured);
}

/** Returns the sum of the succeeded refunds that no reversal reports again, in minor units. */
export function succeededOf(ledger: Ledger): number {
  return sum(unreversed(ledger).filter(({ status }) => status === 'succeeded'));
}

function unreversed({ refunds }: Ledger): readonly Refund[] {
  const reversals = new Set(refunds.filter(isReversal).map(({ id }) => id));
  return refunds.filter(({ id }) => !reversals.has(id));
}

/**
 * Returns what the platform took of a capture beside its refunds: the larger of its reversals, less what disputes won
 * after them were about, and its lost disputes. Two reports of one loss are not added up.
 */
export function takenOf({ disputes }: Pick<TransactionFacts, 'disputes'>, ledger: Ledger): number {
  const captured = ledger.captured ?? 0;
  // A dispute about the whole, or in another currency, which may be any part, counts as the whole.
  const partOf = ({ money }: Dispute): number =>
    money?.amount === 0 || money?.currency === ledger.currency ? money.amount : captured;
  const ended = (end: Dispute['status']) => disputes.filter(({ status }) => status === end);
  const lost = sum(ended('lost').map((dispute) => ({ amount: partOf(dispute) })));
  const steps = [
    ...ledger.refunds.filter(isReversal),
    ...ended('won').map((dispute) => ({ at_ms: dispute.at_ms, amount: -partOf(dispute) })),
  ].toSorted((one, other) => one.at_ms - other.at_ms || other.amount - one.amount);
  const reversed = steps.reduce((taken, { amount }) => Math.max(0, taken + amount), 0);
  return Math.min(Math.max(reversed, lost), captured - refundedOf(ledger));
}

/** Returns whether a capture was fully refunded. A zero payment, which an operator may apply, is never given back. */
export function isGivenBack(ledger: Ledger): boolean {
  const refunded = refundedOf(ledger);
  return ledger.captured !== null && refunded > 0 && refunded >= ledger.captured;
}

export function isCaptured({ ledgers }: TransactionFacts): boolean {
  return ledgers.some(({ captured }) => captured !== null);
}

export function hasDispute({ disputes }: TransactionFacts, status: Dispute['status']): boolean {
  return disputes.some((dispute) => dispute.status === status);
}

/** Returns what was refunded of a capture or taken back, in minor units. */
export function lossOf(transaction: Pick<TransactionFacts, 'disputes'>, ledger: Ledger): number {
  return refundedOf(ledger) + takenOf(transaction, ledger);
}

/** Returns whether a part of a capture was neither refunded nor taken back. */
export function hasValidCapture(transaction: TransactionFacts): boolean {
  return transaction.ledgers.some((ledger) => {
    const loss = lossOf(transaction, ledger);
    return ledger.captured !== null && (loss === 0 || loss < ledger.captured);
  });
}

export function sum(items: readonly { readonly amount: number }[]): number {
  return items.reduce((total, { amount }) => total + amount, 0);
}
