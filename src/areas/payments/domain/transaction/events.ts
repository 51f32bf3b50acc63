// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';
import { paymentNotification } from '../fact.js';
import { paymentAction, resolutionNote } from '../payment.js';

/** Streams `transaction-<provider>-<SHA-256>`: of a transaction, or of a report alone. See `homeOf`. */
export const transactionCategory = 'transaction';

/** A report, by the revision of its `PaymentReported`. */
const report = z.int().nonnegative();

const schemas = {
  /** A verified report. Only a digest of the platform's text is stored, because the text may name people. */
  PaymentReported: z.strictObject({
    /** Of the callback; the name of the notification where another report forwarded it. */
    key: z.string().min(1),
    /** SHA-256 of the fields that count. A repetition with other content has another digest. */
    digest: hexDigest,
    /** Whether it belongs to our account with the platform. */
    is_ours: z.boolean(),
    notifications: z.array(paymentNotification).max(100),
    /** The order that it names, if it exists; else the order that is linked already; else null. */
    order_id: entityId.nullable(),
    received_at: instant,
    /** Its transaction keeps no more reports, so this stream has only this one. */
    is_excess: z.literal(true).exactOptional(),
    /** Each notification is forwarded as a report, and this stream applies nothing. */
    is_forwarded: z.literal(true).exactOptional(),
    /** Of an operator who recorded it by hand. The sealed note is JSON: `{reason, evidence}`. */
    recorded: z.strictObject({ ...resolutionNote }).exactOptional(),
  }),
  /** A known key with other content, which is never applied. */
  PaymentConflicted: z.strictObject({ key: z.string().min(1), digest: hexDigest }),
  /** Its order keeps no more reports. */
  PaymentReportHeld: z.strictObject({ report }),
  /** An operator's decision on a pending report. The order that it is applied to is the link. Null: dismissed. */
  PaymentReportResolved: z.strictObject({
    ...{ report, action: paymentAction, order_id: entityId.nullable() },
    ...resolutionNote,
  }),
};

export type TransactionEvent = EventOf<typeof schemas>;
export type PaymentReport = Extract<TransactionEvent, { type: 'PaymentReported' }>['data'];
export type ReportResolution = Extract<TransactionEvent, { type: 'PaymentReportResolved' }>['data'];
export const transactionCodec = makeEventCodec(schemas);
