import type { CommandHandler, HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { PlatformRole } from '../domain/user/events.js';
import { type UserCommand, userAggregate } from '../domain/user/user.js';
import type { EndGivenAccess } from './erasing.js';
import type { AccountLookup } from './finding.js';

interface ChangedAccount {
  readonly userId: string;
  /** False where the account was so already. */
  readonly changed: boolean;
}

/**
 * Changes the account that an operator names by its address or its id. When it resolves, the change holds for every
 * later request. A repetition changes nothing, except that each sign-out ends the sessions of its time.
 * @throws CommandRejected invalid_request, user_not_found; StoreUnavailable
 */
export type ChangeAccount = (account: string, context: CommandContext) => Promise<ChangedAccount>;

type RoleOf = { readonly email: string; readonly role: PlatformRole };

/** Makes the changes of operators to an account (docs/operate.md#commands). The actor of their events is the operator. */
export function makeAccountChanges(
  deps: AccountLookup & { readonly handler: CommandHandler; readonly endGivenAccess: EndGivenAccess },
) {
  const { handler, accountByName, accountByAddress, endGivenAccess } = deps;
  const change =
    (command: UserCommand): ChangeAccount =>
    async (account, context) => {
      const { userId } = await accountByName(account);
      const { events } = await handler.handle(userAggregate.at(userId), command, context, {
        revokesAccess: true,
      });
      return { userId, changed: events.length > 0 };
    };
  const ban = change({ type: 'Ban' });
  return {
    /** Ends all sessions. */
    signOutUser: change({ type: 'RevokeSessions' }),
    /** Removes all second factors, and ends all sessions if there were any. Notices tell the person. */
    resetSecondFactor: change({ type: 'ResetSecondFactor' }),
    /** Ends all sessions, the API keys that the account issued and its open invitations, and refuses every sign-in. */
    banUser: async (account: string, context: CommandContext): Promise<ChangedAccount> => {
      const banned = await ban(account, context);
      // Also in a repetition: it completes a ban that a crash interrupted, as a reaction does.
      await endGivenAccess({ userId: banned.userId }, context);
      return banned;
    },
    /** Lets the account sign in again. What the ban ended stays ended. */
    unbanUser: change({ type: 'Unban' }),
    /**
     * Grants a platform role to the user with this address; a repetition changes nothing.
     * @returns the user's id @throws CommandRejected invalid_request, user_not_found, address_not_proved
     */
    grantPlatformRole: ({ email, role }: RoleOf, context: CommandContext) =>
      changeByAddress(email, () => ({ type: 'GrantPlatformRole', role }), context),
    /**
     * Revokes a platform role, in every process before it resolves; a repetition changes nothing.
     * @returns the user's id @throws CommandRejected invalid_request, user_not_found; StoreUnavailable
     */
    revokePlatformRole: ({ email, role }: RoleOf, context: CommandContext) =>
      changeByAddress(email, () => ({ type: 'RevokePlatformRole', role }), context, { revokesAccess: true }),
    /**
     * Marks an address as verified, because an operator vouches for it; a repetition changes nothing.
     * @returns the user's id @throws CommandRejected invalid_request, user_not_found, address_changed
     */
    verifyEmail: ({ email }: { readonly email: string }, context: CommandContext) =>
      changeByAddress(email, (email_digest) => ({ type: 'VerifyEmail', email_digest }), context),
  };

  async function changeByAddress(
    email: string,
    commandOf: (email_digest: string) => UserCommand,
    context: CommandContext,
    options?: HandleOptions,
  ): Promise<string> {
    const { userId, email_digest } = await accountByAddress(email);
    await handler.handle(userAggregate.at(userId), commandOf(email_digest), context, options);
    return userId;
  }
}
