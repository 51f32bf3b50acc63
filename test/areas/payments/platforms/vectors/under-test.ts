import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type {
  PaymentCallback,
  Verify,
} from '../../../../../src/areas/payments/platforms/payment-provider.js';
import type { SentCallback } from '../../../../support/clients/sign-callbacks.js';
import type { PaymentMessage } from '../messages/messages.js';

const vector = z.object({
  title: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  query: z.string(),
});

const refusal = z.enum(['malformed', 'unknown_key', 'wrong_signature', 'out_of_time']);

export const vectorFile = z.object({
  vectors: z.array(vector),
  /** The first message (of `standard`: the second) in other forms with the same meaning. */
  again: z.array(vector),
  negatives: z.array(vector.extend({ reason: refusal })),
  unavailable: z.array(vector).default([]),
  keys: z.record(z.string(), z.string()).default({}),
  publicKeys: z.array(z.string()).default([]),
  publicKey: z.string().default(''),
  certificates: z.record(z.string(), z.string()).default({}),
});

export type Vector = z.infer<typeof vector>;
export type VectorFile = z.infer<typeof vectorFile>;

/** A payment as its platform reports it. */
export interface ToldPayment {
  readonly orderNumber: string;
  /**
   * 8 to 20 letters and digits. They also identify the message, so the same transaction with other content is a
   * conflict.
   */
  readonly transaction: string;
  /** The amount in minor units, or a value that cannot be read. */
  readonly amount: number | 'unreadable';
  readonly currency: string;
}

/** A platform that signs: what verifies its messages, and its messages. */
export interface SigningPlatform {
  readonly verify: Verify;
  /** Returns the message about a payment, signed at that time. */
  pay(payment: ToldPayment, at: Date): SentCallback;
  /**
   * Returns the same genuine message in a form that the service cannot judge now: sealed under an unknown key, or
   * signed with a key that cannot be fetched.
   */
  readonly payUnjudged?: (payment: ToldPayment, at: Date) => SentCallback;
}

export interface RsaKeys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** What the tests know of a platform: the default export of `<platform>.ts`, which the list of platforms finds. */
export interface PlatformUnderTest {
  /** The messages whose signed form is in `vectors-<platform>.json`, in the same order. */
  readonly messages: readonly PaymentMessage[];
  /** The message that `again` repeats; the first one when it is left out. */
  readonly repeated?: number;
  /** SHA-256 of the digests of all genuine callbacks, one after the other, as events hold them. */
  readonly digest: string;
  /** The reply to a genuine callback, by the platform's documents. */
  readonly acknowledgement: { readonly type: string; readonly body: string };
  /** How much the time of a genuine callback may differ; null where the signature has none. */
  readonly lateMs: number | null;
  /** Returns the settings under which the vectors are genuine. @param directoryOf makes a directory of files */
  readonly environment: (
    file: VectorFile,
    directoryOf: (files: Readonly<Record<string, string>>) => string,
  ) => Readonly<Record<string, string>>;
  /** Makes what verifies the vectors, where the settings alone do not. */
  readonly verify?: (file: VectorFile) => Verify;
  /** Returns the meaning of a callback. Two callbacks with the same meaning differ only in parts that do not count. */
  readonly meaningOf: (callback: PaymentCallback) => string;
  /** Makes the platform with separate keys, derived from the name. */
  readonly sign: (name: string, keys: RsaKeys) => SigningPlatform;
}

export const ok = { type: 'application/json; charset=utf-8', body: '{"code":"ok","message":"ok"}' };
export const success = { type: 'text/plain; charset=utf-8', body: 'success' };

/** Returns the named headers and the body. */
export function meaningOf(names: readonly string[], { headers, body }: PaymentCallback): string {
  return [...names.map((name) => headers[name] ?? ''), body.toString('hex')].join(' ');
}

/** Returns the parameters. Their order, escapes, empty ones and `sign_type` do not count. */
export function formMeaning({ method, query, body }: PaymentCallback): string {
  const entries = [...new URLSearchParams(method === 'GET' ? query : body.toString('latin1'))]
    .filter(([name, value]) => value !== '' && !/^sign_type=MD5$/i.test(`${name}=${value}`))
    .map(([name, value]) => (name === 'sign' ? `sign=${value.replaceAll(' ', '+')}` : `${name}=${value}`));
  return entries.sort().join('&');
}

/** Formats hundredths as a decimal number. */
export function inDecimals(amount: number | 'unreadable'): string {
  return amount === 'unreadable' ? amount : (amount / 100).toFixed(2);
}
