import { createHash } from 'node:crypto';
import type { PaymentProviderName } from '../domain/payment.js';

/** Names a callback: its stream's id. Platforms' keys may be of any shape and length, so it is a digest of one. */
export function callbackIdOf(provider: PaymentProviderName, key: string): string {
  return `${provider}-${sha256(key)}`;
}

/** Names a platform's payment: its stream's id. */
export function transactionStreamId(provider: PaymentProviderName, transactionId: string): string {
  return `${provider}-${sha256(transactionId)}`;
}

/** Names one of the things that a callback tells, the first by the callback's own name. */
export function notificationName(callbackId: string, index: number): string {
  return index === 0 ? callbackId : `${callbackId}.${index}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
