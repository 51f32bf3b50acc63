import { namedObject } from '../../../../validation/fields.js';
import { z } from 'zod';
import { invalid } from '../../../../validation/field-problems.js';
import { textPattern } from '../../../../validation/text.js';
import { currencyCode, minorAmount, transactionId } from '../../domain/fact.js';
import type { RecordedFact } from '../../domain/order/contradiction.js';
import { holdReason, paymentProvider } from '../../domain/payment.js';

/** The time and the id of a report: see `unmatchedPosition`. */
export const unmatchedCursor = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z\/[a-z]{1,16}-[0-9a-f]{64}@[0-9]{1,9}$/);
/** The id of an order and the name of a mismatch: see `reviewPosition`. */
export const reviewCursor = z
  .string()
  .regex(/^[0-9a-f-]{36}\/[a-z]{1,16}-[0-9a-f]{64}(?:@[0-9]{1,9})?\.[0-9]{1,2}$/);

export const dismissalRequest = namedObject('DismissalRequest', {
  reason: holdReason,
  provider: paymentProvider.optional().describe('Of any, when it is left out.'),
  received_before: z.iso.datetime().describe('Only what was received before.'),
  note: z.string().min(1).max(1_000).describe('Why; each decision carries it. It is kept sealed.'),
  after: unmatchedCursor.nullable().default(null).describe('`next` of the call before.'),
});

export type DismissalRequest = z.output<typeof dismissalRequest>;

export const refundRequest = namedObject('OrderRefundRequest', {
  amount: minorAmount.positive().optional().describe('Minor units; all that remains when it is left out.'),
  transaction_id: transactionId.optional().describe('The payment to refund, where the order has several.'),
  repeats: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('The `id` of a refund without an answer, to ask for it again.'),
  note: z.string().min(1).max(1_000).meta({ pattern: textPattern, description: 'Why. It is kept sealed.' }),
});

/** An order's id, or the number that the platform carries. */
export const orderIdOrNumber = z.union([z.uuid().toLowerCase(), z.string().regex(/^[0-9A-Za-z]{26}$/)]);

/** What an operator can record of a payment. */
const recordedKind = z.enum([
  'paid',
  'refunded',
  'failed',
  'canceled',
  'disputed',
  'dispute_won',
  'dispute_lost',
]);

const why = z.string().min(1).max(400);

/** A payment that an operator records: docs/payments/resolving.md#record-by-hand. */
export const recordRequest = namedObject('PaymentRecordRequest', {
  order: orderIdOrNumber.describe('The order’s id or number.'),
  kind: recordedKind,
  transaction_id: transactionId
    .optional()
    .describe('The platform’s id of the payment. Only `failed` and `canceled` may leave it out.'),
  amount: minorAmount
    .positive()
    .optional()
    .describe('Minor units: the payment, or all that was refunded of it so far. Optional for disputes.'),
  currency: currencyCode.optional(),
  refund_id: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('The platform’s id of one refund; `amount` is that of this refund then.'),
  dispute_id: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('The platform’s id of the dispute; the transaction’s when it is left out.'),
  provider: paymentProvider.optional().describe('The order’s platform, which is the default.'),
  at: z.iso.datetime().optional().describe('The platform’s time; now when it is left out.'),
  reason: why.meta({ pattern: textPattern, description: 'Why it is recorded by hand. It is kept sealed.' }),
  evidence: why.meta({
    pattern: textPattern,
    description: 'How the operator knows, such as the statement of the platform. It is kept sealed.',
  }),
});
export type RecordRequest = z.output<typeof recordRequest>;

const forMoneyAlone = 'must be left out: it is for a payment, a refund or a dispute';

type Told = Omit<RecordRequest, 'reason' | 'evidence'>;

/** Returns the fact that the request tells. @throws CommandRejected invalid_request, naming the field */
export function factOfRecord(told: Told): RecordedFact {
  const { kind, refund_id } = told;
  if (refund_id !== undefined && kind !== 'refunded')
    invalid('refund_id', 'must be left out: it is for a refund', 'not_allowed');
  if (told.dispute_id !== undefined && !kind.startsWith('dispute'))
    invalid('dispute_id', 'must be left out: it is for a dispute', 'not_allowed');
  switch (kind) {
    case 'failed':
    case 'canceled':
      if (told.amount !== undefined) invalid('amount', forMoneyAlone, 'not_allowed');
      if (told.currency !== undefined) invalid('currency', forMoneyAlone, 'not_allowed');
      return { kind };
    case 'paid':
      requireTransaction(told);
      return { kind, ...moneyOfRecord(told) };
    case 'refunded':
      requireTransaction(told);
      return refund_id === undefined
        ? { kind: 'refunded-in-total', ...moneyOfRecord(told) }
        : { kind: 'refund', refund_id, status: 'succeeded', ...moneyOfRecord(told) };
    case 'disputed':
    case 'dispute_won':
    case 'dispute_lost':
      return disputeOfRecord(kind, told);
  }
}

const disputeStatus = { disputed: 'open', dispute_won: 'won', dispute_lost: 'lost' } as const;

function disputeOfRecord(kind: keyof typeof disputeStatus, told: Told): RecordedFact {
  const transaction = requireTransaction(told);
  const { dispute_id = transaction } = told;
  const money = told.amount === undefined && told.currency === undefined ? {} : moneyOfRecord(told);
  return { kind: 'dispute', dispute_id, status: disputeStatus[kind], ...money };
}

function requireTransaction({ transaction_id }: Told): string {
  return transaction_id ?? invalid('transaction_id', 'is missing', 'missing');
}

function moneyOfRecord({ amount, currency }: Told) {
  return {
    amount: amount ?? invalid('amount', 'is missing', 'missing'),
    currency: currency ?? invalid('currency', 'is missing', 'missing'),
  };
}
