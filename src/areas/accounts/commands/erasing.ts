import type { AccountDeps } from '../deps.js';
import { on } from '../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { everyId } from '../../shared/deps.js';
import { onceShown, type Shows } from '../../shared/once-shown.js';
import { type RequestSession, requireSession } from '../domain/guard.js';
import { sessionAggregate } from '../domain/session/session.js';
import { endingGivenAccess } from '../domain/user/fold.js';
import { userAggregate } from '../domain/user/user.js';
import type { AddressReservations } from './email/address-reservations.js';
import type { KnownDevices } from './signing-in/known-devices.js';

/** What was given by an account, and is to end. */
interface EndedGifts {
  readonly userId: string;
  /** Ends what was given until then; null: everything. */
  readonly until: Date | null;
  readonly now: Date;
  /** Whether members that the account added leave, or only its API keys and invitations end. */
  readonly members: 'end' | 'stay';
}

/**
 * What an account has in other areas. Those areas depend on accounts, so they implement it. Every method is idempotent.
 * @throws StoreUnavailable
 */
export interface Holdings {
  /**
   * Returns whether the views show what keeps an account without a proved address: a live API key or another member in a project of it,
   * or an order of it or of its projects that has not failed, expired or been canceled.
   */
  keepUnproved(userId: string, now: Date): Promise<boolean>;
  /**
   * Deletes the projects that have no other member. It judges all before it deletes the first.
   * @throws CommandRejected project_has_members where a project with other members would lose its owner or its payer
   */
  deleteOwnedAlone(userId: string, context: CommandContext): Promise<void>;
  /** Ends the memberships of an erased account, its API keys, and the open invitations to its proved addresses. */
  removeErasedMember(userId: string, context: CommandContext): Promise<void>;
  /** Ends the access to projects that the account gave. */
  endGiven(ended: EndedGifts, context: CommandContext): Promise<void>;
}

type OfUser = { readonly userId: string };

/** `session`: that of the request; left out where an operator asks. */
type EraseInput = OfUser & { readonly session?: RequestSession };

export type EndGivenAccess = ReturnType<typeof makeEndGivenAccess>;

/**
 * Ends the access to projects that an account has given, where the account may not be trusted:
 * src/areas/accounts/commands/README.md#proof-of-an-address, src/areas/accounts/README.md#bans. After CredentialsVoided, all that it gave before it. While the
 * account is banned, its API keys and invitations. It does nothing otherwise. Every step is idempotent.
 * @throws StoreUnavailable
 */
export function makeEndGivenAccess({
  handler,
  clock,
  holdings,
}: AccountDeps & { readonly holdings: Holdings }) {
  return async ({ userId }: OfUser, context: CommandContext): Promise<void> => {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return;
    const { voidedAt, banned } = user;
    const ended = { userId, now: clock.now() };
    if (voidedAt !== null) await holdings.endGiven({ ...ended, until: voidedAt, members: 'end' }, context);
    if (banned) await holdings.endGiven({ ...ended, until: null, members: 'stay' }, context);
  };
}

export type Erasing = ReturnType<typeof makeErasing>;

/** Makes the erasure of accounts (src/areas/accounts/README.md#erasure). */
export function makeErasing(
  deps: AccountDeps & {
    readonly holdings: Holdings;
    readonly reservations: Pick<AddressReservations, 'release'>;
    readonly knownDevices: Pick<KnownDevices, 'forget'>;
  },
) {
  const { handler, sealer, sessions, holdings, reservations, knownDevices } = deps;
  return {
    /**
     * Deletes an account and the projects that have no other member. When it resolves, every later request by the user's sessions and
     * API keys is refused. A repetition changes nothing.
     * @throws CommandRejected user_not_found; session_ended; project_has_members where a project with other members would lose
     * its owner or its payer
     */
    eraseUser: async ({ userId, session }: EraseInput, context: CommandContext): Promise<void> => {
      const { state: user } = await handler.load(userAggregate, userId);
      // A session may have ended since its request was authenticated, and the projects go first.
      if (session !== undefined && user.status === 'registered') requireSession(user, session);
      await holdings.deleteOwnedAlone(userId, context);
      await handler.handle(userAggregate.at(userId), { type: 'Erase' }, context, { revokesAccess: true });
      // From here on, a reaction completes the erasure if this process crashes.
      await finishErasure({ userId }, context);
    },
    finishErasure,
  };

  /**
   * Completes an erasure after UserErased: destroys the person's data key, revokes the sessions, ends the memberships, the API keys that
   * the user issued and the invitations to the user, forgets the known devices, releases its addresses. Every step is idempotent. It does
   * nothing while the user is not erased. @throws StoreUnavailable
   */
  async function finishErasure({ userId }: OfUser, context: CommandContext): Promise<void> {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'erased') return;
    await sealer.destroy({ kind: 'person', userId });
    for await (const id of everyId((page) => sessions.ids(userId, page))) {
      await handler.handle(sessionAggregate.at(id), { type: 'Revoke', reason: 'user_erased' }, context);
    }
    await holdings.removeErasedMember(userId, context);
    await knownDevices.forget(userId);
    for (const email_digest of [user.email_digest, ...user.formerDigests]) {
      await reservations.release(email_digest, userId, context);
    }
  }
}

/**
 * Ends the access that an account has given, after the first proof of its address by a stranger's mailbox, and after a
 * ban. The request ends it too, before its reply; this reaction does so after a crash, and where the view lagged.
 */
export const endGivenAccesses = ({
  endGivenAccess,
  projectsShowUpTo,
}: {
  readonly endGivenAccess: EndGivenAccess;
  readonly projectsShowUpTo: Shows;
}) =>
  on(userAggregate, endingGivenAccess, {
    name: 'end-given-access',
    isDue: onceShown(projectsShowUpTo),
    run: (userId, context) => endGivenAccess({ userId }, context),
  });

/**
 * Finishes every erasure, also after a crash of the process that began it: src/areas/accounts/README.md#erasure. It erases the data
 * that the request missed because its views of sessions and projects lagged.
 */
export const finishErasures = ({
  finishErasure,
  viewsShow,
}: Pick<Erasing, 'finishErasure'> & { readonly viewsShow: Shows }) =>
  on(userAggregate, ['UserErased'], {
    name: 'finish-erasure',
    isDue: onceShown(viewsShow),
    run: (userId, context) => finishErasure({ userId }, context),
  });
