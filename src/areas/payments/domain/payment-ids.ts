import { hash } from 'node:crypto';
import type { PaymentProviderName } from './payment.js';

// Crockford's base 32 has no letters that people confuse.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 26;
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Returns an order's number: its id in 26 characters, by which a callback finds the stream. */
export function orderNumber(orderId: string): string {
  let rest = BigInt(`0x${orderId.replaceAll('-', '')}`);
  let digits = '';
  for (let index = 0; index < length; index += 1) {
    digits = alphabet.charAt(Number(rest & 31n)) + digits;
    rest >>= 5n;
  }
  return digits;
}

/** Returns the order's id, or null if the number is not ours. */
export function parseOrderNumber(number: string): string | null {
  const text = number.toUpperCase();
  if (!pattern.test(text)) return null;
  let value = 0n;
  for (const digit of text) value = (value << 5n) | BigInt(alphabet.indexOf(digit));
  const hex = value.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
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

const paymentIdPattern = /^([a-z]{1,16}-[0-9a-f]{64})@(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]?))?$/;

/** Parses the id of a report, or of one of its notifications (`index`; null: the whole). Null where it is malformed. */
export function parsePaymentId(id: string) {
  const [, stream, revision, index] = paymentIdPattern.exec(id) ?? [];
  if (stream === undefined) return null;
  return { stream, revision: Number(revision), index: index === undefined ? null : Number(index) };
}

function sha256(text: string): string {
  return hash('sha256', text);
}
