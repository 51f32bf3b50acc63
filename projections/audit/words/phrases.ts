import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { GrantSource, MailOutcome } from '../../../src/validation/fields.js';
import type { PaymentFact } from '../../../src/areas/payments/domain/fact.js';

/**
 * For each event type of an aggregate, what the actor did: the words after the actor, without a full stop. A sealed value
 * is named as sealed, and digests are not shown.
 * @param id the stream's id
 */
export type Phrases<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (data: Extract<Event, { type: Type }>['data'], id: string) => string;
};

/** Returns a name that people chose, in quotation marks and with control characters escaped. */
export function inQuotes(text: string): string {
  return JSON.stringify(text);
}

/** Returns the amount with its unit, for example `1999 minor units of USD`. */
export function moneyInWords(amount: number, currency: string): string {
  return `${amount} minor units of ${currency}`;
}

/** Returns how a grant came about. */
export function sourceInWords(source: GrantSource): string {
  if (source === 'registration') return 'at the registration';
  return source === 'operator' ? 'by an operator' : `for order ${source}`;
}

/** Returns the end of a sentence about a mail. */
export function outcomeInWords(outcome: MailOutcome): string {
  return outcome === 'accepted' ? 'the mail server accepted it' : 'the mail server refused it';
}

/** Returns the names in a list, or `nothing`. */
export function listInWords(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
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
