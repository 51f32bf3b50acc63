import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { paymentFact, paymentProvider, type RecordedFact } from '../../src/domain/payment.js';
import type { PaymentFact, PaymentProvider } from '../../src/integrations/payments/payment-provider.js';
import type { PaymentProviders } from '../../src/integrations/payments/payment-providers.js';

/** What a test's payment platform says, in one message. */
export interface TestMessage {
  readonly key: string;
  readonly isOurs?: boolean;
  readonly told: readonly {
    readonly number?: string | null;
    readonly transaction?: string | null;
    readonly fact: RecordedFact;
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

/** The message as the platform sends it: bytes, and headers that hold their signature. */
export function signed(message: TestMessage): {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
} {
  const body = Buffer.from(JSON.stringify(message));
  return { body, headers: { 'x-signature': signatureOf(body) } };
}

/** What tells the message from others under its key. */
export function fieldsDigestOf(message: TestMessage): string {
  return digestOf(signed(message).body);
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function signatureOf(bytes: Buffer): string {
  return createHmac('sha256', secret).update(bytes).digest('hex');
}

/** A payment platform with the simplest of schemes, so that a test can say anything in its name. */
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
            reference: { orderNumber: number, transactionId: transaction },
            fact: toFact(fact),
            at: at === null ? null : new Date(at),
          })),
          digest: digestOf(bytes),
        },
      });
    },
    ...overrides,
  };
}

/** Every platform is set up, each with that scheme. */
export function allTestPaymentProviders(): PaymentProviders {
  return new Map(paymentProvider.options.map((name) => [name, makeTestPaymentProvider()]));
}

function toFact(fact: RecordedFact): PaymentFact {
  switch (fact.kind) {
    case 'paid':
    case 'refunded-in-total':
      return { kind: fact.kind, money: { amount: fact.amount, currency: fact.currency } };
    case 'refund': {
      const { refund_id: refundId, status, amount, currency } = fact;
      return { kind: 'refund', refundId, status, money: { amount, currency } };
    }
    case 'dispute':
      return { kind: 'dispute', disputeId: fact.dispute_id, status: fact.status };
    case 'unreadable':
      return { kind: 'unreadable', field: fact.field };
    case 'pending':
    case 'failed':
    case 'expired':
    case 'canceled':
    case 'nothing':
      return { kind: fact.kind };
  }
}
