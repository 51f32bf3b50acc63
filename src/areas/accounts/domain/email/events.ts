// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { entityId } from '../../../../validation/fields.js';

/** Streams `email-<keyed digest of the address>`, so that the log holds no address. */
export const emailCategory = 'email';

const schemas = {
  /** The address belongs to this user while the user's stream agrees. */
  EmailReserved: z.strictObject({
    user_id: entityId,
    /** The change of address that it was made for, after its code was right; null: a registration. */
    change_id: entityId.nullable(),
  }),
  EmailReleased: z.strictObject({ user_id: entityId }),
};

export type EmailEvent = EventOf<typeof schemas>;
export const emailCodec = makeEventCodec(schemas);
