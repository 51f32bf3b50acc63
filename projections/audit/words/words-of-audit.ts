import type { AuditLogEvent } from '../../../src/areas/audit/domain/audit-log/events.js';
import { inQuotes, type Phrases } from './phrases.js';

/** The restarts of the audit log. The stream's id is the last part of the new origin. */
export const auditLogWords: Phrases<AuditLogEvent> = {
  AuditRestarted: ({ previous_note, reason }, id) =>
    `restarted the audit log under the origin that ends in ${id}, because ${inQuotes(reason)}; ` +
    (previous_note === null
      ? 'no checkpoint was signed before'
      : 'the event holds the last checkpoint before'),
};
