// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { entityId, instant, mailOutcome } from '../fields.js';

const schemas = {
  /** The code itself stands nowhere: it is made anew from these fields (DESIGN 3, Login codes). It ends all earlier ones. */
  LoginCodeIssued: z.strictObject({
    issue_id: entityId,
    user_id: entityId,
    /** Where to mail it: sealed for the person. */
    email: sealedSchema,
    /** The key of CODE_KEYS that the code is made with. */
    code_key_id: z.string().min(1),
    expires_at: instant,
  }),
  LoginCodeMailed: z.strictObject({ issue_id: entityId, outcome: mailOutcome }),
  LoginCodeAttemptFailed: z.strictObject({ issue_id: entityId }),
  LoginCodeUsed: z.strictObject({ issue_id: entityId }),
};

export type LoginCodeEvent = EventOf<typeof schemas>;
export const loginCodeCodec = makeEventCodec(schemas);
