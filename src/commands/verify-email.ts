import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { userAggregate } from '../domain/user/user.js';
import type { AccountByAddress } from './account-by-address.js';

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
  accountByAddress,
}: {
  readonly handler: CommandHandler;
  readonly accountByAddress: AccountByAddress;
}): VerifyEmail {
  return async ({ email }, context) => {
    const { userId, emailDigest } = await accountByAddress(email);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'VerifyEmail', emailDigest }, context);
    return userId;
  };
}
