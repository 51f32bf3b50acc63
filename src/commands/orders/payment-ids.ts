import { hash } from 'node:crypto';
import type { PaymentProviderName } from '../../domain/payment.js';

/** Returns the stream id of a callback. It is a digest, because a platform's key may have any form and length. */
export function callbackIdOf(provider: PaymentProviderName, key: string): string {
  return `${provider}-${sha256(key)}`;
}

/** Returns the stream id of a platform's transaction. */
export function transactionStreamId(provider: PaymentProviderName, transactionId: string): string {
  return `${provider}-${sha256(transactionId)}`;
}

/** Returns the name of one notification of a callback. */
export function notificationName(callbackId: string, index: number): string {
  return `${callbackId}.${index}`;
}

/** A callback, or one of its notifications, that an operator decides on. */
export interface PaymentId {
  readonly callbackId: string;
  /** Null: the whole callback. */
  readonly index: number | null;
}

const paymentIdPattern = /^([a-z]{1,16}-[0-9a-f]{64})(?:\.(0|[1-9][0-9]?))?$/;

/** Parses the id of a payment; null where it is malformed. */
export function parsePaymentId(id: string): PaymentId | null {
  const [, callbackId, index] = paymentIdPattern.exec(id) ?? [];
  if (callbackId === undefined) return null;
  return { callbackId, index: index === undefined ? null : Number(index) };
}

function sha256(text: string): string {
  return hash('sha256', text);
}
