import type { AddressReservations } from '../registering/address-reservations.js';
import type { FinishEmailChange, ReservedChange } from './finish-email-change.js';
import { emailCodec, type EmailEvent, emailCategory } from '../../domain/email/events.js';
import { userCodec, type UserEvent, userCategory } from '../../domain/user/events.js';
import type { Clock } from '../../../../kit/time/clock.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type EmailReserved = Extract<EmailEvent, { type: 'EmailReserved' }>;
type AddressLeft = Extract<UserEvent, { type: 'EmailChanged' | 'EmailChangeReverted' }>;

/** Completes address changes that stopped after the reservation: src/areas/accounts/README.md#unique-address. */
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

/**
 * Releases the address that a user had before a change, once the change can no longer be undone, and the address that a
 * revert replaces, at once. A change has a timer of 72 h. A registration that needs an overdue address does not wait for
 * its release.
 */
export function makeReleaseFormerAddresses({
  reservations,
  clock,
}: {
  readonly reservations: Pick<AddressReservations, 'isLeft' | 'isOverdue' | 'release'>;
  readonly clock: Clock;
}): Reaction<AddressLeft> {
  return {
    name: 'release-left-addresses',
    category: userCategory,
    codec: userCodec,
    types: ['EmailChanged', 'EmailChangeReverted'],
    hasTimers: true,
    asks: async (event) => {
      const until = event.type === 'EmailChanged' ? event.data.revert?.until : undefined;
      // Its streams are read only when it is due: a waiting change costs no reads.
      if (until !== undefined && clock.now() < new Date(until)) return { notBefore: new Date(until) };
      const [emailDigest, userId] = [event.data.previous_email_digest, streamIdOf(event)];
      const isOver =
        (await reservations.isOverdue(emailDigest, userId)) ||
        (await reservations.isLeft(emailDigest, userId));
      return isOver ? 'yes' : 'no';
    },
    conclude: (event, context) =>
      reservations.release(event.data.previous_email_digest, streamIdOf(event), context),
  };
}

/** Null for the reservation of a registration. */
function changeOf(event: EmailReserved & { readonly stream: string }): ReservedChange | null {
  const { user_id: userId, change_id: changeId } = event.data;
  return changeId === null ? null : { userId, changeId, emailDigest: streamIdOf(event) };
}
