// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, mailOutcome } from '../../../../validation/fields.js';

/** Streams `sharemail-<id>`: the mails of one request, which send the link of a share. */
export const shareMailCategory = 'sharemail';

/** Addresses of one request (src/areas/shares/README.md#mails-with-the-link). */
export const shareMailAddressesMax = 10;

/** The place of a mail in its request, from 0. */
const number = z
  .int()
  .min(0)
  .max(shareMailAddressesMax - 1);

const schemas = {
  /** One for each address of a request, all in one append. */
  ShareMailRequested: z.strictObject({
    project_id: entityId,
    share_id: entityId,
    number,
    /** The address and the sender's message, sealed for the request. Its key is destroyed when the mails have gone. */
    to: sealedSchema,
    message: sealedSchema.nullable(),
    /** The user who sends, or who issued the API key that does. */
    sent_by: entityId,
  }),
  /** The mail server accepted or refused the mail. */
  ShareMailed: z.strictObject({ number, outcome: mailOutcome }),
};

export type ShareMailEvent = EventOf<typeof schemas>;
export const shareMailCodec = makeEventCodec(schemas);
