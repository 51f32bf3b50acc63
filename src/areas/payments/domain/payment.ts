import { z } from 'zod';
import type { PaymentPlatform } from '../platforms/platform.js';
import { type PlatformName, platforms } from '../platforms/platforms.js';
import { sealedSchema } from '../../../event-sourcing/ports/events.js';
import { entityId, hexDigest } from '../../../validation/fields.js';
import { inQuotes } from '../../../validation/text.js';
import type { PaymentFact } from './fact.js';
import { hash } from 'node:crypto';

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

/** The platforms whose callbacks the service accepts (src/areas/payments/README.md#payment-callbacks). */
export const paymentProvider = z.enum([...platforms.keys()]).meta({ id: 'PaymentProvider' });
export type PaymentProviderName = PlatformName;

/** Returns what decisions and use cases know of a platform, also of one that is not set up. */
export function platformTerms(provider: PaymentProviderName): PaymentPlatform {
  const found = platforms.get(provider);
  if (found === undefined) throw new Error('a payment platform is not in the list');
  return found;
}

const paymentIdPattern = /^([a-z]{1,16}-[0-9a-f]{64})@(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]?))?$/;

/** Names a report: its stream and `@<revision>`. With `.<index>` it names one of its facts. */
export const paymentId = z
  .string()
  .regex(paymentIdPattern)
  .meta({
    id: 'PaymentId',
    description: '`id` of what is listed under `/admin/payments`.',
    examples: [`stripe-${'0'.repeat(64)}@0`],
  });

/** The outcome of a report. */
export const disposition = z
  .enum(['applied', 'already_applied', 'mismatch', 'ignored'])
  .meta({ id: 'PaymentDisposition' });
export type Disposition = z.infer<typeof disposition>;

/** Why a report waits. */
export const holdReason = z
  .enum(['unknown_order', 'unlinked_transaction', 'unreadable', 'order_full', 'transaction_full'])
  .meta({ id: 'PaymentHoldReason' });
export type HoldReason = z.infer<typeof holdReason>;

/** Bounds the conflicts that a stream records: docs/decisions/payments-callbacks.md#0014-verified-or-refused. */
export const conflictsMax = 10;

/** An operator's decision on a payment. */
export const paymentAction = z.enum(['apply', 'dismiss']).meta({ id: 'PaymentAction' });
export type PaymentAction = z.infer<typeof paymentAction>;

/** An operator's reason for a decision on a payment. It may name people, so it is sealed. */
export const resolutionNote = {
  note: sealedSchema,
  /** The person whose key seals the note: the order's buyer. Null: the note has a separate key. */
  note_of: entityId.nullable(),
  /** Keyed digest, by which `decide` recognises a repeated decision. */
  note_digest: hexDigest,
};
export type ResolutionNote = z.infer<z.ZodObject<typeof resolutionNote>>;

// Crockford's base 32 has no letters that people confuse.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/**
 * Returns an order's number: its id in 26 characters, by which a callback finds the stream. Two characters stand for the first two
 * hexadecimal digits, and four for each further five.
 */
export function orderNumber(orderId: string): string {
  const hex = orderId.replaceAll('-', '');
  let number = charactersOf(hex.slice(0, 2), 2);
  for (let at = 2; at < hex.length; at += 5) number += charactersOf(hex.slice(at, at + 5), 4);
  return number;
}

/** Returns the order's id, or null if the number is not ours. */
export function parseOrderNumber(number: string): string | null {
  const text = number.toUpperCase();
  if (!pattern.test(text)) return null;
  let hex = hexOf(text.slice(0, 2), 2);
  for (let at = 2; at < text.length; at += 4) hex += hexOf(text.slice(at, at + 4), 5);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function charactersOf(hex: string, length: number): string {
  let [rest, characters] = [Number.parseInt(hex, 16), ''];
  for (let index = 0; index < length; index += 1) {
    characters = alphabet.charAt(rest & 31) + characters;
    rest >>= 5;
  }
  return characters;
}

function hexOf(characters: string, length: number): string {
  let value = 0;
  for (const character of characters) value = value * 32 + alphabet.indexOf(character);
  return value.toString(16).padStart(length, '0');
}

/** Returns the key of a callback's report. It is a digest, because a platform's key may have any form and length. */
export function reportKeyOf(provider: PaymentProviderName, key: string): string {
  return `${provider}-${sha256(key)}`;
}

/** Returns the stream id of a platform's transaction. */
export function transactionStreamId(provider: PaymentProviderName, transactionId: string): string {
  return `${provider}-${sha256(transactionId)}`;
}

/** Returns the stream id of a report alone: see `homeOf`. No transaction has such an id. */
export function ownStreamId(provider: PaymentProviderName, key: string): string {
  return transactionStreamId(provider, `a report for itself: ${key}`);
}

/** Returns the name of a report: `<transaction>@<revision>`. */
export function reportName(transaction: string, revision: number): string {
  return `${transaction}@${revision}`;
}

/** Returns the name of one notification of a report. */
export function notificationName(id: string, index: number): string {
  return `${id}.${index}`;
}

/** Returns the name of a fact. The key of a forwarded report is the name of its notification. */
export function factName(
  stream: string,
  { key, revision }: { readonly key: string; readonly revision: number },
  index: number,
): string {
  return isForwardedKey(key) ? key : notificationName(reportName(stream, revision), index);
}

export function isForwardedKey(key: string): boolean {
  return key.includes('.');
}

/** Returns the name of a buyer's approval, which does not depend on the key of its message. An approval again is another event. */
export function approvalName(provider: PaymentProviderName, reference: string, event: string): string {
  return `${provider}-${sha256(JSON.stringify([reference, event]))}`;
}

/** Parses the id of a report, or of one of its notifications (`index`; null: the whole). Null where it is malformed. */
export function parsePaymentId(id: string) {
  const [, stream, revision, index] = paymentIdPattern.exec(id) ?? [];
  if (stream === undefined) return null;
  return { stream, revision: Number(revision), index: index === undefined ? null : Number(index) };
}

function sha256(text: string): string {
  return hash('sha256', text);
}
