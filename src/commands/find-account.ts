import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { emailAggregate } from '../domain/email/email.js';
import { hasAddress, type RegisteredUser, userAggregate } from '../domain/user/user.js';

/** A user as their stream stands now. */
export interface Account {
  readonly userId: string;
  readonly user: RegisteredUser;
}

/**
 * The account that signs in by an address (a keyed digest), or null. It takes the same store calls either way, so that their
 * time does not tell.
 */
export type FindAccount = (emailDigest: string) => Promise<Account | null>;

/** Nobody's id, whose stream is read where an address is not reserved. */
const nobody = '00000000-0000-0000-0000-000000000000';

export function makeFindAccount({
  handler,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
}): FindAccount {
  return async (emailDigest) => {
    const { state: reservation } = await handler.load(emailAggregate, emailDigest);
    const userId = reservation.status === 'reserved' ? reservation.userId : nobody;
    const { state: user } = await handler.load(userAggregate, userId);
    return hasAddress(user, emailDigest) ? { userId, user } : null;
  };
}
