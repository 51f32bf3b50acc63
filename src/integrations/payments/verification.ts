import { hash, type KeyObject, verify } from 'node:crypto';
import { at } from './parsing.js';
import type {
  PaymentFact,
  PaymentNotification,
  PaymentReference,
  Refusal,
  Verification,
  VerifiedCallback,
} from './payment-provider.js';

export const nothing: PaymentFact = { kind: 'nothing' };

export function unreadable(field: string): PaymentFact {
  return { kind: 'unreadable', field };
}

export function refused(reason: Refusal): Verification {
  return { kind: 'refused', reason };
}

/** The signed fields that were used, by name. They leave in the digest alone, for they may name people. */
type UsedFields = Readonly<Record<string, string | number | boolean>>;

/** The answer for a callback whose signature holds. Facts that lack what they are about become what that makes of them. */
export function verified({
  fields: used,
  ...callback
}: Omit<VerifiedCallback, 'digest'> & { readonly fields: UsedFields }): Verification {
  const notifications = callback.notifications.map((one) => ({ ...one, fact: complete(one) }));
  const told = notifications.map(({ reference, fact }) => ({ reference, fact }));
  const fields = Object.entries(used).sort(([one], [other]) => (one < other ? -1 : 1));
  const digest = hash('sha256', JSON.stringify([fields, told]));
  return { kind: 'verified', callback: { ...callback, notifications, digest } };
}

/** The answer for a genuine message that cannot be read as a whole. Where it names no key, its bytes are its key. */
export function verifiedUnreadable(field: string, content: Buffer, key?: string): Verification {
  const digest = `sha256:${hash('sha256', content)}`;
  const reference: PaymentReference = { orderNumber: null, transactionId: null };
  return verified({
    key: key ?? `unreadable-${digest}`,
    isOurs: true,
    notifications: [{ reference, fact: unreadable(field), at: null }],
    fields: { content: digest },
  });
}

/** Money without a payment to count it to cannot be counted; what tells of no order, and moves no money, is nothing to us. */
function complete({ reference, fact }: PaymentNotification): PaymentFact {
  switch (fact.kind) {
    case 'paid':
    case 'refund':
    case 'refunded-in-total':
    case 'dispute':
      return reference.transactionId === null ? unreadable('transaction id') : fact;
    case 'pending':
    case 'failed':
    case 'expired':
    case 'canceled':
      return reference.transactionId === null && reference.orderNumber === null ? nothing : fact;
    case 'nothing':
    case 'unreadable':
      return fact;
  }
}

/** What stands at the paths (dotted) of a message: texts, numbers and truth values. */
export function fieldsAt(message: unknown, paths: readonly string[]): UsedFields {
  const found: [string, string | number | boolean][] = [];
  for (const path of paths) {
    const value = at(message, path);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      found.push([path, value]);
    }
  }
  return Object.fromEntries(found);
}

/** Whether `seconds` since 1970 is within 5 minutes of the time, either way. */
export function isWithinTolerance(seconds: string, now: Date): boolean {
  return Math.abs(now.getTime() / 1_000 - Number(seconds)) <= 300;
}

/** RSASSA-PKCS1-v1_5 with SHA-256; false for a signature of the wrong length, too. */
export function holdsRsaSha256(content: Buffer, key: KeyObject, signature: Buffer): boolean {
  return key.asymmetricKeyType === 'rsa' && verify('sha256', content, key, signature);
}
