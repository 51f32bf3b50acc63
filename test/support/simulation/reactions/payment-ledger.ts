import type { OrderStatus } from '../../../../src/areas/payments/domain/order/order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import { isDeepStrictEqual } from 'node:util';

/** A fact of an order that a platform reported on it. */
export interface LedgerEntry {
  /** The stream of the transaction, because two platforms may name their payments alike. */
  readonly transaction: string;
  /** Whether the platform named the transaction. Payments without a name are one. */
  readonly isNamed: boolean;
  readonly fact: PaymentFact;
  readonly atMs: number;
}

type Refund = Extract<PaymentFact, { kind: 'refund' }>;
type Dispute = Extract<PaymentFact, { kind: 'dispute' }>;
type Dated<Fact> = Fact & { readonly atMs: number };

/**
 * Computes an order by src/areas/payments/README.md#orders from all reports on it, in any order. A payment counts in its own
 * currency: in that of the order, unless an operator has applied it.
 */
export function ledgerOf(
  entries: readonly LedgerEntry[],
  { price, ends }: { readonly price: number; readonly ends: readonly ('expired' | 'canceled')[] },
) {
  const paid = grouped(entries, ({ transaction }) => transaction).flatMap((about) =>
    paymentsOf(about, price),
  );
  const refunded = paid.reduce((sum, payment) => sum + payment.inPrice, 0);
  const isDue = paid.some(({ captured, refunded: given, taken }) => given + taken < captured);
  const has = (kind: PaymentFact['kind']): boolean => entries.some(({ fact }) => fact.kind === kind);
  return { status: statusOf(), refunded, isDue };

  function statusOf(): OrderStatus {
    if (paid.length > 0) {
      if (paid.every(({ isGivenBack }) => isGivenBack)) return 'refunded';
      const isDisputed = ({ taken, disputes }: (typeof paid)[number]): boolean =>
        taken > 0 || disputes.some(({ status }) => status !== 'won');
      if (paid.some(isDisputed)) return 'disputed';
      return paid.some((payment) => payment.refunded > 0) ? 'partially_refunded' : 'fulfilled';
    }
    return ends.includes('canceled') ? 'canceled' : statusOfUnpaid();
  }

  function statusOfUnpaid(): OrderStatus {
    if (isUnderWay()) return 'pending';
    if (has('canceled')) return 'canceled';
    if (has('expired') || ends.includes('expired')) return 'expired';
    if (has('failed')) return 'failed';
    return has('pending') || has('unpaid') ? 'pending' : 'created';
  }

  /**
   * Of one payment's pending and end, the later by the platform's time counts, and the end in a tie. A failure or a
   * cancellation without a name ends each payment, and any end the payment without a name.
   */
  function isUnderWay(): boolean {
    const ends = entries.filter(({ fact }) => ['failed', 'expired', 'canceled'].includes(fact.kind));
    const isEndOf = (end: LedgerEntry, pending: LedgerEntry): boolean => {
      if (end.atMs < pending.atMs) return false;
      if (!pending.isNamed) return true;
      return end.isNamed ? end.transaction === pending.transaction : end.fact.kind !== 'expired';
    };
    const pendings = entries.filter(({ fact }) => fact.kind === 'pending');
    return pendings.some((pending) => !ends.some((end) => isEndOf(end, pending)));
  }
}

/** Returns the payments of a transaction, one for each currency. */
function paymentsOf(about: readonly LedgerEntry[], price: number) {
  const disputes = disputesOf(about);
  return ['USD', 'EUR'].flatMap((currency) => {
    const own = about.filter(({ fact }) => 'currency' in fact && fact.currency === currency);
    const amounts = own.flatMap(({ fact }) => (fact.kind === 'paid' ? fact.amount : []));
    if (amounts.length === 0) return [];
    const captured = Math.max(...amounts);
    const refunded = Math.min(captured, refundedOf(own));
    // A refund in another currency counts as the same share of the price.
    const inPrice = currency === 'USD' ? refunded : Math.round((price * refunded) / captured);
    const taken = Math.min(takenOf(own, disputes, { captured, currency }), captured - refunded);
    return [{ captured, refunded, inPrice, taken, isGivenBack: refunded === captured, disputes }];
  });
}

/** Returns what was lost beside refunds: by reversals that no later decision took back, or by disputes. */
function takenOf(
  own: readonly LedgerEntry[],
  disputes: readonly Dated<Dispute>[],
  { captured, currency }: { readonly captured: number; readonly currency: string },
): number {
  const part = (one: Dispute): number => (one.currency === currency ? (one.amount ?? captured) : captured);
  const of = (end: Dispute['status']) => disputes.filter(({ status }) => status === end);
  const lost = of('lost').reduce((sum, one) => sum + part(one), 0);
  const reversals = refundsOf(own).filter(({ status }) => status === 'reversed');
  const times = [...new Set([...reversals, ...of('won')].map(({ atMs }) => atMs))].sort((a, b) => a - b);
  let reversed = 0;
  for (const time of times) {
    for (const { atMs, amount } of reversals) if (atMs === time) reversed += amount;
    for (const one of of('won')) if (one.atMs === time) reversed = Math.max(0, reversed - part(one));
  }
  return Math.max(reversed, lost);
}

function isRefund(fact: PaymentFact): fact is Refund {
  return fact.kind === 'refund' && fact.status !== 'reversed';
}

/** Returns the state of each refund: a reversal, else the latest. */
function refundsOf(about: readonly LedgerEntry[]): readonly Dated<Refund>[] {
  const refunds = about.flatMap(({ fact, atMs }) => (fact.kind === 'refund' ? [{ ...fact, atMs }] : []));
  return grouped(refunds, ({ refund_id }) => refund_id).map((of) =>
    last(of, ({ atMs, status, amount }) => [
      status === 'reversed' ? 1 : 0,
      atMs,
      ['pending', 'succeeded', 'failed'].indexOf(status),
      amount,
    ]),
  );
}

function refundedOf(about: readonly LedgerEntry[]): number {
  const totals = about.flatMap(({ fact, atMs }) =>
    fact.kind === 'refunded-in-total' ? [{ ...fact, atMs }] : [],
  );
  const latest = refundsOf(about);
  const sumOf = (some: readonly Refund[]): number => some.reduce((sum, { amount }) => sum + amount, 0);
  const succeeded = sumOf(latest.filter(({ status }) => status === 'succeeded'));
  if (totals.length === 0) return succeeded;
  const total = last(totals, ({ atMs, amount }) => [atMs, amount]);
  const failedSince = latest.filter(({ status, atMs }) => status === 'failed' && atMs >= total.atMs);
  // Whether the total contains the money of a reversal: because it came later, or because it contains the refund of the id.
  const reversedInTotal = latest.filter(({ status, atMs, refund_id }) => {
    const refund = refundsOf(about.filter(({ fact }) => isRefund(fact) && fact.refund_id === refund_id))[0];
    const contains =
      refund !== undefined &&
      (refund.status === 'succeeded'
        ? refund.atMs <= total.atMs
        : refund.status === 'failed' && refund.atMs >= total.atMs);
    return status === 'reversed' && (contains || atMs <= total.atMs);
  });
  return Math.max(succeeded, total.amount - sumOf([...failedSince, ...reversedInTotal]));
}

/** Returns each dispute at its end. An end holds, and of two ends the later one, or the lost one at equal times. */
function disputesOf(about: readonly LedgerEntry[]): readonly Dated<Dispute>[] {
  const disputes = about.flatMap(({ fact, atMs }) => (fact.kind === 'dispute' ? [{ ...fact, atMs }] : []));
  return grouped(disputes, ({ dispute_id }) => dispute_id).map((of) =>
    last(of, ({ status, atMs, amount, currency }) => [
      status === 'open' ? 0 : 1,
      atMs,
      ['open', 'won', 'lost'].indexOf(status),
      amount ?? Infinity,
      currency === 'USD' ? 1 : 0,
    ]),
  );
}

/** Returns the item that sorts last by its keys, the first key first. */
function last<Item>(items: readonly Item[], keysOf: (item: Item) => readonly number[]): Item {
  return items.reduce((one, other) => (comesAfter(keysOf(other), keysOf(one)) ? other : one));
}

function comesAfter(one: readonly number[], other: readonly number[]): boolean {
  const index = one.findIndex((key, n) => key !== other[n]);
  return index !== -1 && (one[index] ?? 0) > (other[index] ?? 0);
}

function grouped<Item>(items: readonly Item[], nameOf: (item: Item) => string): readonly (readonly Item[])[] {
  const names = [...new Set(items.map(nameOf))];
  return names.map((name) => items.filter((item) => nameOf(item) === name));
}

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
