// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { entityId, hexDigest, instant } from '../fields.js';
import { paymentNotification, paymentProvider, resolutionNote } from '../payment.js';

const schemas = {
  /** Verified, and so accepted: what it says in our words. Of what the platform wrote only a digest is kept, for it may name people. */
  PaymentCallbackReceived: z.strictObject({
    provider: paymentProvider,
    /** SHA-256 of what counts in it: a message that comes back changed has another. */
    fields_digest: hexDigest,
    /** Whether it is of our account with the platform. */
    is_ours: z.boolean(),
    notifications: z.array(paymentNotification).max(100),
    received_at: instant,
  }),
  /** It cannot be settled yet, or not without somebody's decision. */
  PaymentCallbackHeld: z.strictObject({
    reason: z.enum(['unknown_order', 'unlinked_transaction', 'unreadable', 'order_full', 'transaction_full']),
  }),
  /** Somebody has decided on what waits; it is settled as they say. */
  PaymentCallbackResolved: z.strictObject({
    action: z.enum(['apply', 'dismiss']),
    /** The order that it is applied to; null when it is dismissed. */
    order_id: entityId.nullable(),
    ...resolutionNote,
  }),
  PaymentCallbackSettled: z.strictObject({
    disposition: z.enum(['applied', 'already_applied', 'mismatch', 'ignored']),
    order_id: entityId.nullable(),
  }),
  /** The same message with other content: never applied. */
  PaymentCallbackConflicted: z.strictObject({ fields_digest: hexDigest }),
};

export type PaymentCallbackEvent = EventOf<typeof schemas>;
export type ReceivedCallback = Extract<PaymentCallbackEvent, { type: 'PaymentCallbackReceived' }>['data'];
export type HoldReason = Extract<PaymentCallbackEvent, { type: 'PaymentCallbackHeld' }>['data']['reason'];
export type Disposition = Extract<
  PaymentCallbackEvent,
  { type: 'PaymentCallbackSettled' }
>['data']['disposition'];
export const paymentCallbackCodec = makeEventCodec(schemas);
