import { isDeepStrictEqual } from 'node:util';
import { type Money, movesMoney } from '../fact.js';
import type { PaymentAction, PaymentProviderName } from '../payment.js';
import type { OrderEvent } from './events.js';
import {
  type OrderFacts,
  withCapture,
  withDispute,
  withEntry,
  withRefund,
  withRefundedInTotal,
} from './facts.js';

type MismatchFound = Extract<OrderEvent, { type: 'PaymentMismatchFound' }>['data'];

/** A genuine report that differs from the order and waits for a decision. `at`: the platform's time. */
export type Mismatch = Omit<MismatchFound, 'callback'> & { readonly id: string };

/**
 * The mismatches that wait, and the decisions of operators. A decision on a payment covers all refunds and disputes of
 * its transaction: they become facts. Otherwise each would be a mismatch for the reason of the payment.
 */
export type Review = {
  readonly mismatches: readonly Mismatch[];
  /** The payments that were decided on, by `transactionKey`. A platform may report several for one transaction. */
  readonly decided: readonly { readonly transaction: string; readonly payments: readonly Money[] }[];
};

export const noReview: Review = { mismatches: [], decided: [] };

/**
 * Returns the key of a transaction among facts and decisions. It names the platform, because two platforms may use the
 * same id. A report without a transaction id counts as a separate transaction under the report's name.
 */
export function transactionKey(
  provider: PaymentProviderName,
  name: string,
  transactionId: string | null,
): string {
  return `${provider}/${transactionId ?? name}`;
}

export function withMismatch(
  { mismatches }: Review,
  { callback: id, ...found }: MismatchFound,
): Partial<Review> {
  return { mismatches: withEntry(mismatches, 'id', { id, ...found }, (_known, fresh) => fresh) };
}

/** Returns whether an earlier decision covers the report, so that it needs no review. */
export function isCovered(
  { decided }: Pick<Review, 'decided'>,
  { id, provider, reason, transaction_id, fact }: Omit<Mismatch, 'at'>,
): boolean {
  if (reason === 'transaction_of_another_order' || reason === 'too_many_reports') return false;
  const known = decided.find(
    ({ transaction }) => transaction === transactionKey(provider, id, transaction_id),
  );
  if (known === undefined) return false;
  if (fact.kind !== 'paid') return true;
  return known.payments.some((payment) => isDeepStrictEqual(payment, moneyOf(fact)));
}

/**
 * Returns whether the mismatch names the money that a capture of its transaction charged. Tax, shipping and discounts
 * make it another amount than the price, and the platform may report both.
 */
export function isCharged(
  { transactions }: OrderFacts,
  { id, provider, reason, transaction_id, fact }: Omit<Mismatch, 'at'>,
): boolean {
  if (reason !== 'amount' || fact.kind !== 'paid') return false;
  const key = transactionKey(provider, id, transaction_id);
  const ledgers = transactions.find((transaction) => transaction.id === key)?.ledgers ?? [];
  return ledgers.some(({ currency, captured }) => currency === fact.currency && captured === fact.amount);
}

/** Returns the money that a dispute is about; null: the whole payment. */
export function disputedMoney({ amount, currency }: Partial<Money>): Money | null {
  return amount === undefined || currency === undefined ? null : { amount, currency };
}

/** Returns what an order knows a fact as. @param seen `<event type>/<name>` of its events */
export function knownAs(seen: Iterable<string>, name: string): 'mismatch' | 'applied' | null {
  const found = [...seen].filter((entry) => entry.endsWith(`/${name}`));
  if (found.includes(`PaymentMismatchFound/${name}`)) return 'mismatch';
  return found.length > 0 ? 'applied' : null;
}

/** Returns whether the mismatch is a payment that can be applied. A transaction never pays two orders. */
export function isApplicable({ reason, fact }: Mismatch): boolean {
  return fact.kind === 'paid' && reason !== 'transaction_of_another_order';
}

/** Returns each payment that waits once: several messages may report it, and a decision on one of them covers all. */
export function withoutRepeats(mismatches: readonly Mismatch[]): readonly Mismatch[] {
  return mismatches.filter((one, index) => {
    if (!isApplicable(one) || one.reason === 'too_many_reports') return true;
    const earlier = mismatches.slice(0, index).filter(({ reason }) => reason === one.reason);
    return !earlier.some((other) => keyOf(other) === keyOf(one) && isDeepStrictEqual(other.fact, one.fact));
  });
}

/** Returns the fields that a decision on a mismatch changes. */
export function afterDecision(
  order: Review & { readonly facts: OrderFacts },
  decidedOn: Mismatch,
  action: PaymentAction,
): Partial<Review & { readonly facts: OrderFacts }> {
  const others = order.mismatches.filter((other) => other !== decidedOn);
  const { fact } = decidedOn;
  if (fact.kind !== 'paid' || !isApplicable(decidedOn)) return { mismatches: others };
  const transaction = keyOf(decidedOn);
  const paid = moneyOf(fact);
  const decided = withEntry(order.decided, 'transaction', { transaction, payments: [paid] }, (known) => ({
    transaction,
    payments: [...known.payments, paid],
  }));
  const isSettled = (other: Mismatch): boolean =>
    keyOf(other) === transaction && isCovered({ decided }, other);
  const facts = others
    .filter(isSettled)
    .reduce(
      (known, other) => withMoneyFact(known, transaction, other),
      action === 'apply' ? withCapture(order.facts, transaction, paid) : order.facts,
    );
  return { mismatches: others.filter((other) => !isSettled(other)), decided, facts };
}

function keyOf({ id, provider, transaction_id }: Mismatch): string {
  return transactionKey(provider, id, transaction_id);
}

/** Adds a refund or a dispute in any currency. After the decision, other reports of the transaction change nothing. */
function withMoneyFact(facts: OrderFacts, transaction: string, { fact, at }: Mismatch): OrderFacts {
  if (!movesMoney(fact)) return facts;
  const at_ms = Date.parse(at);
  switch (fact.kind) {
    case 'paid':
      return facts;
    case 'refund': {
      const { refund_id: id, status, amount, currency } = fact;
      return withRefund(facts, transaction, { id, status, amount, currency, at_ms });
    }
    case 'refunded-in-total':
      return withRefundedInTotal(facts, transaction, { ...moneyOf(fact), at_ms });
    case 'dispute':
      return withDispute(facts, transaction, {
        ...{ id: fact.dispute_id, status: fact.status, at_ms, money: disputedMoney(fact) },
      });
  }
}

function moneyOf({ amount, currency }: Money): Money {
  return { amount, currency };
}
