import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { entityId } from '../../../../validation/fields.js';

/** Streams `email-<keyed digest of the address>`, so that the log holds no address. */
export const emailEvents = makeEvents('email-{digest of the address}', {
  /** The address belongs to this user while the user's stream agrees. */
  EmailReserved: event(
    {
      user_id: entityId,
      /** The change of address that it was made for, after its code was right; null: a registration. */
      change_id: entityId.nullable(),
    },
    ({ user_id, change_id }) =>
      `reserved an e-mail address for user ${user_id}` +
      (change_id === null ? '' : `, for address change ${change_id}`),
  ),
  EmailReleased: event(
    { user_id: entityId },
    ({ user_id }) => `released an e-mail address of user ${user_id}`,
  ),
});

export type EmailEvent = EventIn<typeof emailEvents>;
export const { codec: emailCodec } = emailEvents;
