import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { inQuotes } from '../../../../validation/text.js';

/** Streams `audit-<restart id>`, one event each. The id is the last part of the new origin. */
export const auditLogEvents = makeEvents('audit-{restart id}', {
  /** An operator has begun another origin of the audit log, after a contradiction that cannot be taken back. */
  AuditRestarted: event(
    {
      /** The last checkpoint that the service signed, with its signatures; null if it signed none. */
      previous_note: z.string().nullable(),
      /** Why, in the operator's words. Auditors read it. */
      reason: z.string(),
    },
    ({ previous_note, reason }, id) =>
      `restarted the audit log under the origin that ends in ${id}, because ${inQuotes(reason)}; ` +
      (previous_note === null
        ? 'no checkpoint was signed before'
        : 'the event holds the last checkpoint before'),
  ),
});

export type AuditLogEvent = EventIn<typeof auditLogEvents>;
export const { codec: auditLogCodec } = auditLogEvents;
