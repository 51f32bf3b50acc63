import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { AccountByAddress } from '../registering/account-by-address.js';

export interface VerifyEmailInput {
  readonly email: string;
}

/**
 * Marks an address as verified, because an operator vouches for it; a repetition changes nothing.
 * @returns the user's id
 * @throws CommandRejected invalid_request, user_not_found, address_changed
 */
export type VerifyEmail = (input: VerifyEmailInput, context: CommandContext) => Promise<string>;

export function makeVerifyEmail({
  handler,
  accountByAddress,
}: Pick<AccountDeps, 'handler'> & {
  readonly accountByAddress: AccountByAddress;
}): VerifyEmail {
  return async ({ email }, context) => {
    const { userId, emailDigest } = await accountByAddress(email);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'VerifyEmail', emailDigest }, context);
    return userId;
  };
}
