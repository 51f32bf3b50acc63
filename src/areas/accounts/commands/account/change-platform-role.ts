import type { CommandHandler } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { PlatformRole } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import type { AccountByAddress } from '../registering/account-by-address.js';

export interface PlatformRoleInput {
  readonly email: string;
  readonly role: PlatformRole;
}

/**
 * Grants or revokes a platform role of the user with this address; a repetition changes nothing. A revocation takes
 * effect in every process before it resolves.
 * @returns the user's id
 * @throws CommandRejected invalid_request, user_not_found; granting: address_not_proved; revoking: StoreUnavailable
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
