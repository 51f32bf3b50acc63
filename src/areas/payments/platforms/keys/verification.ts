import { type KeyObject, createHash, createVerify, hash } from 'node:crypto';
import { processPace, turnBytesMax } from '../../../../kit/read-in-turns.js';
import { type PaymentFact, type PaymentNotification, movesMoney } from '../../domain/fact.js';
import { at } from '../calls/parsing.js';
import type { Refusal, Verification, VerifiedCallback } from '../payment-provider.js';

export const nothing: PaymentFact = { kind: 'nothing' };

export function unreadable(field: string): PaymentFact {
  return { kind: 'unreadable', field };
}

export function refused(reason: Refusal): Verification {
  return { kind: 'refused', reason };
}

/** The signed fields that the service uses, each once. Only their digest leaves the module: they may name persons. */
type UsedFields = readonly (readonly [name: string, value: string | number | boolean])[];

/** Makes the result of a valid signature. A fact without its reference becomes `unreadable` or `nothing`. */
export function verified(
  input: Omit<VerifiedCallback, 'digest'> & { readonly fields: UsedFields },
): Extract<Verification, { readonly kind: 'verified' }> {
  const { fields: used, ...callback } = input;
  const notifications = callback.notifications.map((one) => ({ ...one, fact: complete(one) }));
  const facts = notifications.map(digested);
  const digest = hash('sha256', JSON.stringify([byName(used), facts]));
  return { kind: 'verified', callback: { ...callback, notifications, digest } };
}

/** Makes the result of a genuine unreadable message. Without a key, the digest of its bytes is its key. */
export async function verifiedUnreadable(
  field: string,
  content: Buffer,
  key?: string,
): Promise<Verification> {
  const digest = `sha256:${(await updatedBy(createHash('sha256'), content)).digest('hex')}`;
  return verified({
    key: key ?? `unreadable-${digest}`,
    isOurs: true,
    notifications: [{ order_number: null, transaction_id: null, fact: unreadable(field), at: null }],
    fields: [['content', digest]],
  });
}

/** Money without a transaction is `unreadable`. A fact that moves no money and has no reference is `nothing`. */
function complete({ order_number, transaction_id, fact }: PaymentNotification): PaymentFact {
  if (transaction_id !== null) return fact;
  if (movesMoney(fact)) return unreadable('transaction id');
  const isOfNoOrder = order_number === null && fact.kind !== 'approved' && fact.kind !== 'unreadable';
  return isOfNoOrder ? nothing : fact;
}

/** The spelling never changes: a repeated delivery with another digest than the stored one is a conflict. */
function digested({ order_number, transaction_id, fact }: PaymentNotification) {
  return [order_number, transaction_id, byName(Object.entries(fact))];
}

function byName<Entry extends readonly [string, unknown]>(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns the texts, numbers and booleans at the dotted paths. */
export function fieldsAt(message: unknown, paths: readonly string[]): UsedFields {
  const found: UsedFields[number][] = [];
  for (const path of paths) {
    const value = at(message, path);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      found.push([path, value]);
  }
  return found;
}

/** Returns whether `seconds` since 1970 are at most 5 minutes from now. */
export function isWithinTolerance(seconds: string, now: Date): boolean {
  return Math.abs(now.getTime() / 1_000 - Number(seconds)) <= 300;
}

/** Gives a digest or a signature the content, at most 64 KiB between two yields to other work. */
export async function updatedBy<Sum extends { update(piece: Buffer): unknown }>(
  sum: Sum,
  content: Buffer,
): Promise<Sum> {
  for (let from = 0; from < content.length; from += turnBytesMax) {
    const piece = content.subarray(from, from + turnBytesMax);
    await processPace.spend({ bytes: piece.length, elements: 1 });
    sum.update(piece);
  }
  return sum;
}

/** Verifies RSASSA-PKCS1-v1_5 with SHA-256. Returns false for a signature of the wrong length too. */
export async function holdsRsaSha256(content: Buffer, key: KeyObject, signature: Buffer): Promise<boolean> {
  if (key.asymmetricKeyType !== 'rsa') return false;
  return (await updatedBy(createVerify('sha256'), content)).verify(key, signature);
}

/** Returns the first item for which the check holds, one after the other; undefined where there is none. */
export async function firstThat<Item>(
  items: Iterable<Item>,
  holds: (item: Item) => Promise<boolean>,
): Promise<Item | undefined> {
  for (const item of items) if (await holds(item)) return item;
  return undefined;
}
