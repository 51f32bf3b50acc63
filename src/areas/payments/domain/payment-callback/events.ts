// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { hexDigest, instant } from '../../../../validation/fields.js';
import { paymentNotification, paymentProvider, resolutionNote } from '../payment.js';

/** Streams `payment-<provider>-<SHA-256 of the callback's key>`: the inbox (docs/design.md#settling). */
export const paymentCallbackCategory = 'payment';

const schemas = {
  /** A verified callback. Only a digest of the platform's text is stored, because the text may name people. */
  PaymentCallbackReceived: z.strictObject({
    provider: paymentProvider,
    /** SHA-256 of the fields that count. A repetition with other content has another digest. */
    fields_digest: hexDigest,
    /** Whether it belongs to our account with the platform. */
    is_ours: z.boolean(),
    notifications: z.array(paymentNotification).max(100),
    received_at: instant,
  }),
  /** An operator recorded the report. The sealed note is JSON: `{reason, evidence}`. */
  PaymentCallbackRecorded: z.strictObject({ ...resolutionNote }),
  /** The same callback key with other content, which is never applied. */
  PaymentCallbackConflicted: z.strictObject({ fields_digest: hexDigest }),
};

export type PaymentCallbackEvent = EventOf<typeof schemas>;
export type ReceivedCallback = Extract<PaymentCallbackEvent, { type: 'PaymentCallbackReceived' }>['data'];
export const paymentCallbackCodec = makeEventCodec(schemas);
