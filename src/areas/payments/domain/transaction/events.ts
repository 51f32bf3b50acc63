import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';
import { listInWords } from '../../../../validation/text.js';
import { paymentNotification } from '../fact.js';
import { decisionInWords, factInWords, paymentAction, resolutionNote } from '../payment.js';

/** A report, by the revision of its `PaymentReported`. */
const report = z.int().nonnegative();

/** Streams `transaction-<provider>-<SHA-256>`: of a transaction, or of a report alone. See `homeOf`. */
export const transactionEvents = makeEvents('transaction-{provider}-{SHA-256 of a transaction or a key}', {
  /** A verified report. Only a digest of the platform's text is stored, because the text may name people. */
  PaymentReported: event(
    {
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
    },
    ({ key, is_ours, notifications, order_id, is_excess, recorded }, id) =>
      `${recorded === undefined ? 'accepted' : 'recorded by hand'} report ${key} in ${id}${is_ours ? '' : ', of another account'}` +
      `${order_id === null ? '' : ` for order ${order_id}`}${is_excess === true ? ', which its transaction has no room for' : ''}: ` +
      (notifications.length === 0
        ? 'nothing for this service'
        : listInWords(notifications.map(({ fact }) => factInWords(fact)))),
  ),
  /** A known key with other content, which is never applied. */
  PaymentConflicted: event(
    { key: z.string().min(1), digest: hexDigest },
    ({ key }, id) => `refused report ${key} of transaction ${id}, which came again with other content`,
  ),
  /** Its order keeps no more reports. */
  PaymentReportHeld: event(
    { report },
    ({ report }, id) => `held report ${report} of transaction ${id} (order_full)`,
  ),
  /** An operator's decision on a pending report. The order that it is applied to is the link. Null: dismissed. */
  PaymentReportResolved: event(
    { ...{ report, action: paymentAction, order_id: entityId.nullable() }, ...resolutionNote },
    ({ report, action, order_id }, id) =>
      `decided ${decisionInWords[action]} report ${report} of transaction ${id}` +
      `${order_id === null ? '' : ` for order ${order_id}`}; the note is sealed`,
  ),
});

export type TransactionEvent = EventIn<typeof transactionEvents>;
export type PaymentReport = Extract<TransactionEvent, { type: 'PaymentReported' }>['data'];
export type ReportResolution = Extract<TransactionEvent, { type: 'PaymentReportResolved' }>['data'];
export const { category: transactionCategory, codec: transactionCodec } = transactionEvents;
