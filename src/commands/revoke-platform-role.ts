import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { invalid } from '../domain/invalid-request.js';
import { rejectUser } from '../domain/user/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import { parseEmailAddress } from '../security/email-address.js';
import type { AddressReservations } from './address-reservations.js';
import type { PlatformRoleInput } from './grant-platform-role.js';

/**
 * Takes a platform role from the user with this address, in every process before it returns; once more changes nothing.
 * @returns the user's id
 * @throws CommandRejected invalid_request, user_not_found; StoreUnavailable while documents cannot be written
 */
export type RevokePlatformRole = (input: PlatformRoleInput, context: CommandContext) => Promise<string>;

export function makeRevokePlatformRole({
  handler,
  reservations,
  digests,
}: {
  readonly handler: CommandHandler;
  readonly reservations: Pick<AddressReservations, 'holder'>;
  readonly digests: Pick<Digests, 'email'>;
}): RevokePlatformRole {
  return async ({ email, role }, context) => {
    const address = parseEmailAddress(email) ?? invalid('email', 'must be an e-mail address');
    const userId = await reservations.holder(digests.email(address.canonical));
    if (userId === null) return rejectUser('user_not_found', 'there is no account with this address');
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'RevokePlatformRole', role },
      context,
      { revokesAccess: true },
    );
    return userId;
  };
}
