import type { AccountDeps } from '../../deps.js';
import { emailAggregate } from '../../domain/email/email.js';
import { hasAddress, type RegisteredUser, userAggregate } from '../../domain/user/user.js';

/** A registered user, read up to the head of the stream. */
export interface Account {
  readonly userId: string;
  readonly user: RegisteredUser;
}

/**
 * Finds the account that signs in by an address (a keyed digest); null where there is none. Both cases make the same
 * store calls, so that the reply time does not reveal which addresses have an account.
 */
export type FindAccount = (emailDigest: string) => Promise<Account | null>;

/** An id that no user has. Its stream is read where an address is not reserved. */
const unusedId = '00000000-0000-0000-0000-000000000000';

export function makeFindAccount({ handler }: Pick<AccountDeps, 'handler'>): FindAccount {
  return async (emailDigest) => {
    const { state: reservation } = await handler.load(emailAggregate, emailDigest);
    const userId = reservation.status === 'reserved' ? reservation.userId : unusedId;
    const { state: user } = await handler.load(userAggregate, userId);
    return hasAddress(user, emailDigest) ? { userId, user } : null;
  };
}
