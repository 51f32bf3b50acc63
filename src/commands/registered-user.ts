import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { rejectUser } from '../domain/user/rejections.js';
import { type RegisteredUser, userAggregate } from '../domain/user/user.js';

/** A user's state, as far as their stream goes now. @throws CommandRejected user_not_found */
export async function loadRegistered(
  handler: Pick<CommandHandler, 'load'>,
  userId: string,
): Promise<RegisteredUser> {
  const { state } = await handler.load(userAggregate, userId);
  return state.status === 'registered' ? state : rejectUser('user_not_found', 'there is no such user');
}
