import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { outcomeInWords } from '../../../../validation/text.js';
import { entityId, mailOutcome } from '../../../../validation/fields.js';

/** Addresses of one request (src/areas/shares/README.md#mails-with-the-link). */
export const shareMailAddressesMax = 10;

/** The place of a mail in its request, from 0. */
const number = z
  .int()
  .min(0)
  .max(shareMailAddressesMax - 1);

/** Streams `sharemail-<id>`: the mails of one request, which send the link of a share. */
export const shareMailEvents = makeEvents('sharemail-{request id}', {
  /** One for each address of a request, all in one append. */
  ShareMailRequested: event(
    {
      project_id: entityId,
      share_id: entityId,
      number,
      /** The address and the sender's message, sealed for the request. Its key is destroyed when the mails have gone. */
      to: sealedSchema,
      message: sealedSchema.nullable(),
      /** The user who sends, or who issued the API key that does. */
      sent_by: entityId,
    },
    ({ share_id, project_id, number, sent_by, message }, id) =>
      `asked for mail ${number} of request ${id}, with the link of share ${share_id} of project ${project_id}, for user ` +
      `${sent_by}, to a sealed address${message === null ? '' : ', with a sealed message'}`,
  ),
  ShareMailed: event(
    { number, outcome: mailOutcome },
    ({ number, outcome }, id) => `sent mail ${number} of request ${id}; ${outcomeInWords(outcome)}`,
  ),
});

export type ShareMailEvent = EventIn<typeof shareMailEvents>;
export const { category: shareMailCategory, codec: shareMailCodec } = shareMailEvents;
