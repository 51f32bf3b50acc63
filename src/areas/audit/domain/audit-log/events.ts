// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';

/** Streams `audit-<restart id>`, one event each. The id is the last part of the new origin. */
export const auditLogCategory = 'audit';

const schemas = {
  /** An operator has begun another origin of the audit log, after a contradiction that cannot be taken back. */
  AuditRestarted: z.strictObject({
    /** The last checkpoint that the service signed, with its signatures; null if it signed none. */
    previous_note: z.string().nullable(),
    /** Why, in the operator's words. Auditors read it. */
    reason: z.string(),
  }),
};

export type AuditLogEvent = EventOf<typeof schemas>;
export const auditLogCodec = makeEventCodec(schemas);
