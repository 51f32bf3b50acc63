// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { entityId } from '../fields.js';

const schemas = {
  /** The address belongs to this user, as long as the user's own stream agrees. */
  EmailReserved: z.strictObject({
    user_id: entityId,
    /** The change of address that it was made for, whose mailed code was right; null: a registration. */
    change_id: entityId.nullable().default(null),
  }),
  EmailReleased: z.strictObject({ user_id: entityId }),
};

export type EmailEvent = EventOf<typeof schemas>;
export const emailCodec = makeEventCodec(schemas);
