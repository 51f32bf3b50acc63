import type { CommandHandler } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { type UserCommand, userAggregate } from '../../domain/user/user.js';
import type { AccountByName } from '../registering/account-by-address.js';
import type { EndGivenAccess } from './end-given-access.js';

export interface ChangedAccount {
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

/** The changes of operators to an account (docs/operate.md#commands). The actor of their events is the operator. */
export interface AccountChanges {
  /** Ends all sessions. */
  readonly signOutUser: ChangeAccount;
  /** Removes all second factors, passkeys too, for a person who has lost them. Notices tell the person. */
  readonly resetSecondFactor: ChangeAccount;
  /** Ends all sessions, the API keys that the account issued and its open invitations, and refuses every sign-in. */
  readonly banUser: ChangeAccount;
  /** Lets the account sign in again. What the ban ended stays ended. */
  readonly unbanUser: ChangeAccount;
}

export function makeAccountChanges({
  handler,
  accountByName,
  endGivenAccess,
}: {
  readonly handler: CommandHandler;
  readonly accountByName: AccountByName;
  readonly endGivenAccess: EndGivenAccess;
}): AccountChanges {
  const change =
    (command: UserCommand): ChangeAccount =>
    async (account, context) => {
      const { userId } = await accountByName(account);
      const target = { aggregate: userAggregate, id: userId };
      const { events } = await handler.handle(target, command, context, { revokesAccess: true });
      return { userId, changed: events.length > 0 };
    };
  const ban = change({ type: 'Ban' });
  return {
    signOutUser: change({ type: 'RevokeSessions' }),
    resetSecondFactor: change({ type: 'ResetSecondFactor' }),
    banUser: async (account, context) => {
      const banned = await ban(account, context);
      // Also in a repetition: it completes a ban that a crash interrupted, as a reaction does.
      await endGivenAccess({ userId: banned.userId }, context);
      return banned;
    },
    unbanUser: change({ type: 'Unban' }),
  };
}
