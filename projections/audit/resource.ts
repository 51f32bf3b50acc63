import { z } from 'zod';
import { instant, namedObject } from '../../src/validation/fields.js';

const json = z.record(z.string(), z.unknown());

/** An event of the audit log: the sentence, and the raw event under the index of its leaf. */
export const auditEventResource = namedObject('AuditEvent', {
  index: z.int().nonnegative().describe('Of its leaf in the Merkle log.'),
  words: z.string().meta({
    description: 'Who did what, in one English sentence.',
    examples: [
      'User 0196a000-0000-7000-8000-000000000001 revoked share 0196a000-0000-7000-8000-000000000002.',
    ],
  }),
  project_id: z.string().nullable().describe('The project that its stream belongs to.'),
  event: z.strictObject({
    id: z.string(),
    stream: z.string(),
    revision: z.int().nonnegative(),
    type: z.string(),
    recorded_at: instant.describe('When the store recorded it.'),
    data: json.describe('As it is stored. Sealed values stay sealed.'),
    metadata: json,
  }),
});
export type AuditEventResource = z.output<typeof auditEventResource>;

const quarantined = z.strictObject({
  revision: z.int().nonnegative().nullable().describe('The last one in the document.'),
  reason: z.string(),
});

/** The documents of a stream as they stood after an event. */
export const auditStreamResource = namedObject('AuditStream', {
  stream: z.string(),
  index: z.int().nonnegative().describe('Of the last event of the log that counts.'),
  revision: z.int().nonnegative().describe('Of the stream, at that event.'),
  views: z
    .record(z.string(), json.nullable())
    .describe(
      'The document of each view of the stream, by the name of the view; null while it shows nothing. Sealed values stay sealed.',
    ),
  set_apart: z
    .record(z.string(), quarantined)
    .describe(
      'The views that have quarantined the stream, by name: this version of the service cannot decode an event. The document stays as it was before.',
    ),
});
