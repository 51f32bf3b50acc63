import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { PlatformRole } from '../domain/user/events.js';
import { userAggregate } from '../domain/user/user.js';
import type { AccountByAddress } from './account-by-address.js';

export interface PlatformRoleInput {
  readonly email: string;
  readonly role: PlatformRole;
}

/**
 * Makes the user with this address an operator or an auditor, or takes that from them, in every process before it returns;
 * once more changes nothing.
 * @returns the user's id
 * @throws CommandRejected invalid_request, user_not_found; granting: address_not_proved; taking away: StoreUnavailable while documents cannot be written
 */
export type ChangePlatformRole = (input: PlatformRoleInput, context: CommandContext) => Promise<string>;

interface PlatformRoleDeps {
  readonly handler: CommandHandler;
  readonly accountByAddress: AccountByAddress;
}

export function makeGrantPlatformRole({ handler, accountByAddress }: PlatformRoleDeps): ChangePlatformRole {
  return async ({ email, role }, context) => {
    const { userId } = await accountByAddress(email);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'GrantPlatformRole', role }, context);
    return userId;
  };
}

export function makeRevokePlatformRole({ handler, accountByAddress }: PlatformRoleDeps): ChangePlatformRole {
  return async ({ email, role }, context) => {
    const { userId } = await accountByAddress(email);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'RevokePlatformRole', role }, context, { revokesAccess: true });
    return userId;
  };
}
