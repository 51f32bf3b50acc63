import { inQuotes } from '../../../validation/in-words.js';
import type { PaymentFact } from './fact.js';
import type { PaymentAction } from './payment.js';

/** What an operator decided on a report. */
export const decisionInWords: Readonly<Record<PaymentAction, string>> = {
  apply: 'to apply',
  dismiss: 'to dismiss',
};

/** Returns a transaction, or that there is none. */
export function transactionInWords(transaction: string | null): string {
  return transaction === null ? 'no transaction' : `transaction ${inQuotes(transaction)}`;
}

/** Returns the amount with its unit, for example `1999 minor units of USD`. */
export function moneyInWords(amount: number, currency: string): string {
  return `${amount} minor units of ${currency}`;
}

/** Returns what a payment platform reported. */
export function factInWords(fact: PaymentFact): string {
  switch (fact.kind) {
    case 'paid':
      return (
        `a payment of ${moneyInWords(fact.amount, fact.currency)}` +
        (fact.charged === undefined ? '' : ` with ${moneyInWords(fact.charged, fact.currency)} charged`)
      );
    case 'refunded-in-total':
      return `refunds of ${moneyInWords(fact.amount, fact.currency)} in total`;
    case 'refund':
      return `refund ${inQuotes(fact.refund_id)} of ${moneyInWords(fact.amount, fact.currency)} (${fact.status})`;
    case 'dispute':
      return fact.amount === undefined || fact.currency === undefined
        ? `dispute ${inQuotes(fact.dispute_id)} (${fact.status})`
        : `dispute ${inQuotes(fact.dispute_id)} of ${moneyInWords(fact.amount, fact.currency)} (${fact.status})`;
    case 'unreadable':
      return `a fact whose field ${inQuotes(fact.field)} is missing or invalid`;
    case 'approved':
      return 'a payment that the buyer approved';
    case 'nothing':
      return 'a fact that does not concern the service';
    case 'unpaid':
      return 'a payment that waits for the buyer';
    case 'pending':
    case 'failed':
    case 'expired':
    case 'canceled':
      return `a payment that is ${fact.kind}`;
  }
}
