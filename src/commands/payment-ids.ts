import { hash } from 'node:crypto';
import type { PaymentProviderName } from '../domain/payment.js';

/** Names a callback: its stream's id. Platforms' keys may be of any shape and length, so it is a digest of one. */
export function callbackIdOf(provider: PaymentProviderName, key: string): string {
  return `${provider}-${sha256(key)}`;
}

/** Names a platform's payment: its stream's id. */
export function transactionStreamId(provider: PaymentProviderName, transactionId: string): string {
  return `${provider}-${sha256(transactionId)}`;
}

/** Names one of the things that a callback tells. */
export function notificationName(callbackId: string, index: number): string {
  return `${callbackId}.${index}`;
}

/** What waits for people: a whole callback, or one of the things that it tells. */
export interface PaymentId {
  readonly callbackId: string;
  /** Null: the whole callback. */
  readonly index: number | null;
}

const paymentIdPattern = /^([a-z]{1,16}-[0-9a-f]{64})(?:\.(0|[1-9][0-9]?))?$/;

/** Null for what is no such name. */
export function parsePaymentId(id: string): PaymentId | null {
  const [, callbackId, index] = paymentIdPattern.exec(id) ?? [];
  if (callbackId === undefined) return null;
  return { callbackId, index: index === undefined ? null : Number(index) };
}

function sha256(text: string): string {
  return hash('sha256', text);
}
