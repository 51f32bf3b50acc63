import type { GrantSource, MailOutcome } from './fields.js';

/** Returns a name that people chose, in quotation marks and with control characters escaped. */
export function inQuotes(text: string): string {
  return JSON.stringify(text);
}

/** Returns how a grant came about. */
export function sourceInWords(source: GrantSource): string {
  if (source === 'registration') return 'at the registration';
  return source === 'operator' ? 'by an operator' : `for order ${source}`;
}

/** Returns the end of a sentence about a mail. */
export function outcomeInWords(outcome: MailOutcome): string {
  const ends = {
    accepted: 'accepted it',
    refused: 'refused it',
    unknown: 'did not say whether it accepted it',
  };
  return `the mail server ${ends[outcome]}`;
}

/** Returns the names in a list, or `nothing`. */
export function listInWords(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}
