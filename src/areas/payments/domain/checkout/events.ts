// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, instant } from '../../../../validation/fields.js';
import { currencyCode, minorAmount, transactionId } from '../fact.js';
import { paymentProvider, resolutionNote } from '../payment.js';

/** Streams `checkout-<order id>`: what the service asked the order's platform to do. The order has what it reported. */
export const checkoutCategory = 'checkout';

/** The platform's id of a payment that it made. */
const reference = z.string().min(1).max(256);
/** The name of the report that the buyer approved: a buyer may approve again, by another means. */
const approval = z.string().min(1).max(256);

const schemas = {
  /** The platform made a payment that the buyer can pay. */
  PaymentMade: z.strictObject({
    project_id: entityId.nullable(),
    provider: paymentProvider,
    kind: z.enum(['redirect', 'qr', 'form']),
    /** The platform's id of what it made; null if it gives none before the payment. */
    reference: reference.nullable(),
    expires_at: instant,
    /** JSON: `{url, fields?}`. A person with the URL sees the order at the platform, so the buyer's key seals it. */
    way: sealedSchema,
    way_of: entityId,
  }),
  /** The buyer approved a payment that the service made. The platform takes the money when it is captured. */
  PaymentApproved: z.strictObject({ provider: paymentProvider, reference, approval }),
  /** The platform took the capture on, or had done so before. Its callback reports the money. */
  CaptureAccepted: z.strictObject({ reference, approval }),
  /** The platform refused the capture, so this approval moves no money. `code`: the platform's. */
  CaptureRefused: z.strictObject({ reference, approval, code: z.string().min(1).max(64).nullable() }),
  /** An operator decided that money goes back. The platform is asked afterwards. */
  RefundAsked: z.strictObject({
    project_id: entityId.nullable(),
    /** Names the refund here; the platform gets it as the idempotency key. */
    refund: entityId,
    provider: paymentProvider,
    transaction_id: transactionId,
    amount: minorAmount,
    currency: currencyCode,
    ...resolutionNote,
  }),
  /** The platform took the refund on. Its callback confirms it. */
  RefundAccepted: z.strictObject({ refund: entityId, refund_id: z.string().min(1).max(256) }),
  /** The platform refused the refund. `code`: the platform's. */
  RefundRefused: z.strictObject({ refund: entityId, code: z.string().min(1).max(64).nullable() }),
};

export type CheckoutEvent = EventOf<typeof schemas>;
export const checkoutCodec = makeEventCodec(schemas);
