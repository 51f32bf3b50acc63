import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { entityId, instant } from '../../../../validation/fields.js';
import { inQuotes } from '../../../../validation/text.js';
import { currencyCode, minorAmount, transactionId } from '../fact.js';
import { moneyInWords, paymentProvider, resolutionNote, transactionInWords } from '../payment.js';

/** The platform's id of a payment that it made. */
const reference = z.string().min(1).max(256);
/** The name of the report that the buyer approved: a buyer may approve again, by another means. */
const approval = z.string().min(1).max(256);

/** Streams `checkout-<order id>`: what the service asked the order's platform to do. The order has what it reported. */
export const checkoutEvents = makeEvents('checkout-{order id}', {
  /** The platform made a payment that the buyer can pay. */
  PaymentMade: event(
    {
      project_id: entityId.nullable(),
      provider: paymentProvider,
      kind: z.enum(['redirect', 'qr', 'form']),
      /** The platform's id of what it made; null if it gives none before the payment. */
      reference: reference.nullable(),
      expires_at: instant,
      /** JSON: `{url, fields?}`. A person with the URL sees the order at the platform, so the buyer's key seals it. */
      way: sealedSchema,
      way_of: entityId,
    },
    ({ provider, kind, reference, expires_at }, id) =>
      `recorded a payment (${kind}) that ${provider} made for order ${id}, to be paid until ${expires_at}` +
      `${reference === null ? '' : ` (${inQuotes(reference)})`}; its address is sealed`,
  ),
  /** The buyer approved a payment that the service made. The platform takes the money when it is captured. */
  PaymentApproved: event(
    { provider: paymentProvider, reference, approval },
    ({ provider, reference }, id) =>
      `recorded that the buyer approved the payment ${inQuotes(reference)} at ${provider} for order ${id}`,
  ),
  /** The platform took the capture on, or had done so before. Its callback reports the money. */
  CaptureAccepted: event(
    { reference, approval },
    ({ reference }, id) =>
      `recorded that the platform captures the payment ${inQuotes(reference)} of order ${id}`,
  ),
  /** The platform refused the capture, so this approval moves no money. `code`: the platform's. */
  CaptureRefused: event(
    { reference, approval, code: z.string().min(1).max(64).nullable() },
    ({ reference, code }, id) =>
      `recorded that the platform refused to capture the payment ${inQuotes(reference)} of order ${id}` +
      (code === null ? '' : ` (${inQuotes(code)})`),
  ),
  /** An operator decided that money goes back. The platform is asked afterwards. */
  RefundAsked: event(
    {
      project_id: entityId.nullable(),
      /** Names the refund here; the platform gets it as the idempotency key. */
      refund: entityId,
      provider: paymentProvider,
      transaction_id: transactionId,
      amount: minorAmount,
      currency: currencyCode,
      ...resolutionNote,
    },
    ({ refund, provider, transaction_id, amount, currency }, id) =>
      `decided refund ${refund} of ${moneyInWords(amount, currency)} for order ${id} at ${provider} ` +
      `(${transactionInWords(transaction_id)}); the note is sealed`,
  ),
  /** The platform took the refund on. Its callback confirms it. */
  RefundAccepted: event(
    { refund: entityId, refund_id: z.string().min(1).max(256) },
    ({ refund, refund_id }, id) =>
      `recorded that the platform took on refund ${refund} of order ${id} (${inQuotes(refund_id)})`,
  ),
  /** The platform refused the refund. `code`: the platform's. */
  RefundRefused: event(
    { refund: entityId, code: z.string().min(1).max(64).nullable() },
    ({ refund, code }, id) =>
      `recorded that the platform refused refund ${refund} of order ${id}${code === null ? '' : ` (${inQuotes(code)})`}`,
  ),
});

export type CheckoutEvent = EventIn<typeof checkoutEvents>;
export const { codec: checkoutCodec } = checkoutEvents;
