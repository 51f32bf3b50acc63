import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { hasAddress, userAggregate } from '../domain/user/user.js';
import type { AddressReservations } from './address-reservations.js';

/** The user who has proved that the address is theirs, as the log has it right now; null when nobody has. */
export type VerifiedHolder = (emailDigest: string) => Promise<string | null>;

export function makeVerifiedHolder({
  handler,
  reservations,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly reservations: Pick<AddressReservations, 'holder'>;
}): VerifiedHolder {
  return async (emailDigest) => {
    const userId = await reservations.holder(emailDigest);
    if (userId === null) return null;
    const { state } = await handler.load(userAggregate, userId);
    return hasAddress(state, emailDigest) && state.emailVerified ? userId : null;
  };
}
