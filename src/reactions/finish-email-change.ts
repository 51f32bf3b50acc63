import type { AddressReservations } from '../commands/accounts/address-reservations.js';
import type { FinishEmailChange, ReservedChange } from '../commands/accounts/finish-email-change.js';
import { emailCodec, type EmailEvent, emailCategory } from '../domain/email/events.js';
import { userCodec, type UserEvent, userCategory } from '../domain/user/events.js';
import type { Reaction } from '../event-sourcing/reacting/reaction.js';
import { streamIdOf } from '../event-sourcing/ports/stream-name.js';

type EmailReserved = Extract<EmailEvent, { type: 'EmailReserved' }>;
type EmailChanged = Extract<UserEvent, { type: 'EmailChanged' }>;

/** Completes address changes that stopped after the reservation: docs/design.md#unique-address. */
export function makeFinishEmailChanges({
  finishEmailChange,
}: {
  readonly finishEmailChange: FinishEmailChange;
}): Reaction<EmailReserved> {
  return {
    name: 'finish-email-change',
    category: emailCategory,
    codec: emailCodec,
    types: ['EmailReserved'],
    asks: async (event) => {
      const change = changeOf(event);
      return change !== null && (await finishEmailChange.isOpen(change)) ? 'yes' : 'no';
    },
    conclude: async (event, context) => {
      const change = changeOf(event);
      if (change !== null) await finishEmailChange.finish(change, context);
    },
  };
}

/** Releases the address that a user had before a change. */
export function makeReleaseFormerAddresses({
  reservations,
}: {
  readonly reservations: Pick<AddressReservations, 'isLeft' | 'release'>;
}): Reaction<EmailChanged> {
  return {
    name: 'release-former-address',
    category: userCategory,
    codec: userCodec,
    types: ['EmailChanged'],
    asks: async (event) =>
      (await reservations.isLeft(event.data.previous_email_digest, streamIdOf(event))) ? 'yes' : 'no',
    conclude: (event, context) =>
      reservations.release(event.data.previous_email_digest, streamIdOf(event), context),
  };
}

/** Null for the reservation of a registration. */
function changeOf(event: EmailReserved & { readonly stream: string }): ReservedChange | null {
  const { user_id: userId, change_id: changeId } = event.data;
  return changeId === null ? null : { userId, changeId, emailDigest: streamIdOf(event) };
}
