// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, instant, mailOutcome, requester } from '../../../../validation/fields.js';

/** Streams `logincode-<keyed digest of the address>`. */
export const loginCodeCategory = 'logincode';

/** Who asked or tried. */
const byRequester = { requester };

const schemas = {
  /** A code of six digits ends the earlier one of the same kind of requester. The code is not stored but computed from these fields (src/areas/accounts/commands/README.md#login-codes). */
  LoginCodeIssued: z.strictObject({
    issue_id: entityId,
    user_id: entityId,
    /** The address of the mail, sealed for the person. */
    email: sealedSchema,
    /** The key of CODE_KEYS that makes the code. */
    code_key_id: z.string().min(1),
    expires_at: instant,
    /** A code of 100 bits: no other code and no failure ends it. */
    strong: z.boolean(),
    ...byRequester,
  }),
  /**
   * A request for an address without an account. It makes the request cost the same store calls as one that issues a
   * code, and counts at the same limits (src/areas/accounts/commands/README.md#login-codes).
   */
  LoginCodeWithheld: z.strictObject(byRequester),
  LoginCodeMailed: z.strictObject({ issue_id: entityId, outcome: mailOutcome }),
  LoginCodeAttemptFailed: z.strictObject({ issue_id: entityId, ...byRequester }),
  LoginCodeUsed: z.strictObject({ issue_id: entityId }),
};

export type LoginCodeEvent = EventOf<typeof schemas>;
export const loginCodeCodec = makeEventCodec(schemas);
