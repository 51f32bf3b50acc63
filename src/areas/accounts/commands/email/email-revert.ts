import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { rejectUseCase, whenRejected } from '../../../shared/rejections.js';
import { emailAggregate } from '../../domain/email/email.js';
import { type FormerAddress, formerAddress } from '../../domain/user/former-addresses.js';
import { type UserRejection, rejectUser } from '../../domain/user/rejections.js';
import { type RegisteredUser, type UserState, userAggregate } from '../../domain/user/user.js';
import type { EndGivenAccess } from '../erasing.js';
import { checkAddress, loadRegistered, type NamedAccount } from '../finding.js';
import { nilId } from '../../../../validation/fields.js';

/** Makes the use cases that put a former address back (src/areas/accounts/commands/README.md#revert-of-an-address-change). */
export function makeEmailReverts(
  deps: Pick<AccountDeps, 'handler' | 'digests' | 'addressRevertCodes'> & {
    readonly endGivenAccess: EndGivenAccess;
  },
) {
  const { handler, digests, addressRevertCodes, endGivenAccess } = deps;
  return {
    /**
     * Puts a former address back by the code that was mailed there (unchecked text), and ends all sessions. It needs no session, because a
     * thief may hold the only ones. An unknown address, a wrong code and a code whose time is over get the same refusal. A repetition
     * changes nothing. @throws CommandRejected invalid_request, credentials_refused
     */
    revertEmailChange: async ({ email, code }: { email: string; code: string }, context: CommandContext) => {
      const email_digest = digests.email(checkAddress(email).canonical);
      const { state: reservation } = await handler.load(emailAggregate, email_digest);
      const userId = reservation.status === 'reserved' ? reservation.user_id : nilId;
      const { state: user } = await handler.load(userAggregate, userId);
      const former = revertibleTo(user, email_digest, context.time);
      const issue = { kid: former?.code_key_id ?? addressRevertCodes.active(), email_digest };
      const matches = addressRevertCodes.matches({ ...issue, issue_id: former?.change_id ?? nilId }, code);
      if (former === null || !matches) return refuse();
      const { change_id } = former;
      const command = { type: 'RevertEmailChange', change_id, byCode: true, now: context.time } as const;
      await handler
        .handle(userAggregate.at(userId), command, context, { revokesAccess: true })
        .catch(refuseLate);
      // From here on, a reaction does it if this process crashes.
      if (!former.verified) await endGivenAccess({ userId }, context);
    },
    /**
     * Puts the named former address back, else the oldest that is still reserved, because an operator vouches for its holder. It
     * voids what a revert by code voids. A repetition puts the same address back, so it changes nothing.
     * @throws CommandRejected user_not_found, email_change_not_revertible
     */
    restoreAddress: async (
      { userId, email_digest }: NamedAccount,
      context: CommandContext,
    ): Promise<void> => {
      const user = await loadRegistered(handler, userId);
      const named = email_digest === null ? null : formerOrBack(user, email_digest);
      const former = named ?? user.formerAddresses[0] ?? user.lastRevert;
      if (former === null) {
        return rejectUser(
          'email_change_not_revertible',
          'the account has no former address that is still reserved',
        );
      }
      const { change_id } = former;
      const command = { type: 'RevertEmailChange', change_id, byCode: false, now: context.time } as const;
      await handler.handle(userAggregate.at(userId), command, context, { revokesAccess: true });
    },
  };
}

/** Returns the former address with this digest while its code is valid; else null. */
function revertibleTo(user: UserState, email_digest: string, now: Date): FormerAddress | null {
  const former = user.status === 'registered' ? formerOrBack(user, email_digest) : null;
  return former !== null && now < former.until ? former : null;
}

/** Returns the former address with this digest, or the same address where it was put back a moment ago; else null. */
function formerOrBack(user: RegisteredUser, email_digest: string): FormerAddress | null {
  const back = user.lastRevert?.email_digest === email_digest ? user.lastRevert : null;
  return formerAddress(user, email_digest) ?? back;
}

/** Another command undid the change or let its time end, or the account was erased. */
const refuseLate = whenRejected<UserRejection>('email_change_not_revertible', 'user_not_found')(refuse);

function refuse(): never {
  return rejectUseCase(
    'credentials_refused',
    'the address or the code is wrong, or the code is not valid any more',
  );
}
