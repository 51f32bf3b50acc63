import type { CommandHandler } from '../../../../event-sourcing/deciding/command-handler.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';

/** Loads a registered user, read up to the head of the stream. @throws CommandRejected user_not_found */
export async function loadRegistered(
  handler: Pick<CommandHandler, 'load'>,
  userId: string,
): Promise<RegisteredUser> {
  const { state } = await handler.load(userAggregate, userId);
  return state.status === 'registered' ? state : rejectUser('user_not_found', 'there is no such user');
}

/** Refuses to sign a banned account in, after its credentials were right. @throws CommandRejected account_banned */
export function refuseBanned({ banned }: Pick<RegisteredUser, 'banned'>): void {
  if (banned) rejectUser('account_banned', 'the account is banned; ask those who run the service');
}
