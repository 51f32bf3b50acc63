import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { rejectUser } from '../domain/user/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import type { AddressReservations } from './address-reservations.js';
import { checkAddress } from './check-address.js';

export interface VerifyEmailInput {
  readonly email: string;
}

/**
 * Counts an address as proved to be its user's, on an operator's word; once more changes nothing.
 * @returns the user's id
 * @throws CommandRejected invalid_request, user_not_found, address_changed
 */
export type VerifyEmail = (input: VerifyEmailInput, context: CommandContext) => Promise<string>;

export function makeVerifyEmail({
  handler,
  reservations,
  digests,
}: {
  readonly handler: CommandHandler;
  readonly reservations: Pick<AddressReservations, 'holder'>;
  readonly digests: Pick<Digests, 'email'>;
}): VerifyEmail {
  return async ({ email }, context) => {
    const address = checkAddress(email);
    const emailDigest = digests.email(address.canonical);
    const userId = await reservations.holder(emailDigest);
    if (userId === null) return rejectUser('user_not_found', 'there is no account with this address');
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'VerifyEmail', emailDigest },
      context,
    );
    return userId;
  };
}
