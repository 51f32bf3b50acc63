import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { type PaymentFact, paymentFact } from '../../../src/areas/payments/domain/fact.js';
import { paymentProvider } from '../../../src/areas/payments/domain/payment.js';
import type { PaymentProvider } from '../../../src/areas/payments/platforms/payment-provider.js';
import type { PaymentProviders } from '../../../src/areas/payments/platforms/configured.js';

/** One message of a test's payment platform. */
export interface TestMessage {
  readonly key: string;
  readonly isOurs?: boolean;
  readonly told: readonly {
    readonly number?: string | null;
    readonly transaction?: string | null;
    readonly fact: PaymentFact;
    /** RFC 3339. */
    readonly at?: string | null;
  }[];
}

const messageSchema = z.object({
  key: z.string(),
  isOurs: z.boolean().default(true),
  told: z.array(
    z.object({
      number: z.string().nullable().default(null),
      transaction: z.string().nullable().default(null),
      fact: paymentFact,
      at: z.iso.datetime().nullable().default(null),
    }),
  ),
});

const secret = 'test-payment-secret';

/** Signs a message: returns its bytes, and headers with their signature. */
export function signed(message: TestMessage): {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
} {
  const body = Buffer.from(JSON.stringify(message));
  return { body, headers: { 'x-signature': signatureOf(body) } };
}

/** Returns the digest that distinguishes the message from others with the same key. */
export function fieldsDigestOf(message: TestMessage): string {
  return digestOf(signed(message).body);
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function signatureOf(bytes: Buffer): string {
  return createHmac('sha256', secret).update(bytes).digest('hex');
}

/** Makes a payment platform with a simple scheme, so that a test can send any message in its name. */
export function makeTestPaymentProvider(overrides: Partial<PaymentProvider> = {}): PaymentProvider {
  return {
    acknowledgement: { contentType: 'text/plain; charset=utf-8', body: 'noted' },
    verify: ({ method, headers, body, query }) => {
      const bytes = method === 'GET' ? Buffer.from(new URLSearchParams(query).get('m') ?? '') : body;
      if (headers['x-signature'] !== signatureOf(bytes)) {
        return Promise.resolve({ kind: 'refused', reason: 'wrong_signature' });
      }
      const { key, isOurs, told } = messageSchema.parse(JSON.parse(bytes.toString()));
      return Promise.resolve({
        kind: 'verified',
        callback: {
          key,
          isOurs,
          notifications: told.map(({ number, transaction, fact, at }) => ({
            order_number: number,
            transaction_id: transaction,
            fact,
            at: at === null ? null : new Date(at).toISOString(),
          })),
          digest: digestOf(bytes),
        },
      });
    },
    ...overrides,
  };
}

/** Makes a map in which every platform has this scheme. */
export function allTestPaymentProviders(): PaymentProviders {
  return new Map(paymentProvider.options.map((name) => [name, makeTestPaymentProvider()]));
}
