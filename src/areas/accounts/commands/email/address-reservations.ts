import { isRecent } from '../../../../kit/time/clock.js';
import type { UserRejection } from '../../domain/user/rejections.js';
import { type EmailRejection, type EmailState, emailAggregate } from '../../domain/email/email.js';
import type { AccountDeps } from '../../deps.js';
import { stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { Overloaded } from '../../../../kit/semaphore.js';
import { formerAddress } from '../../domain/user/former-addresses.js';
import { type RegisteredUser, holdsAddress, userAggregate } from '../../domain/user/user.js';
import { isRejection, rejectUseCase, whenRejected } from '../../../shared/rejections.js';

/** The user, and the change, that reserves an address. */
interface Reserver {
  readonly userId: string;
  /** The change of address whose mailed code was right; null: a registration. */
  readonly change_id: string | null;
}

/** Reserves an address for one user at most (src/areas/accounts/README.md#unique-address). Addresses are keyed digests. */
export type AddressReservations = ReturnType<typeof makeAddressReservations>;

/** The age at which another command may abandon a registration. */
export const takeOverAfterMs = 60_000;

const triesMax = 20;

export function makeAddressReservations({ handler, clock }: Pick<AccountDeps, 'handler' | 'clock'>) {
  return {
    /** Rejects as `reserve` would, before the caller does costly work. @throws CommandRejected email_taken */
    check: async (email_digest: string, userId: string) => {
      const { state } = await handler.load(emailAggregate, email_digest);
      if ((await judge(state, email_digest, userId)) === 'counts') rejectTaken();
    },
    /**
     * Reserves the address for a registration, or for a user who has proved it.
     * @throws CommandRejected email_taken; Overloaded
     */
    reserve: async (email_digest: string, { userId, change_id }: Reserver, context: CommandContext) => {
      for (let attempt = 0; attempt < triesMax; attempt += 1) {
        const { state } = await handler.load(emailAggregate, email_digest);
        const verdict = await judge(state, email_digest, userId);
        if (verdict === 'counts') rejectTaken();
        if (verdict === 'overdue' && !(await fence(state, email_digest, context))) continue;
        const replaces = state.status === 'reserved' ? state.revision : null;
        try {
          const reserve = { type: 'Reserve', userId, change_id, replaces } as const;
          await handler.handle(emailAggregate.at(email_digest), reserve, context);
          return;
        } catch (error) {
          // Another command was faster: the next attempt judges its reservation.
          if (!isRejection<EmailRejection>(error, 'address_reserved')) throw error;
        }
      }
      throw new Overloaded(`an address changed hands ${triesMax} times while it was being reserved`);
    },
    /** Says whether the address is still reserved for a user who neither has it nor requests it. */
    isLeft: async (email_digest: string, userId: string) =>
      (await leftReservation(email_digest, userId)) !== null,
    /** Says whether the address is reserved for a user who had it until a change that can no longer be undone. */
    isOverdue: async (email_digest: string, userId: string) => {
      const { state } = await handler.load(userAggregate, userId);
      return state.status === 'registered' && isOverdueFor(state, email_digest);
    },
    /** Ends the reservation if `isLeft` or `isOverdue`. */
    release: async (email_digest: string, userId: string, context: CommandContext) => {
      const { state } = await handler.load(userAggregate, userId);
      if (state.status === 'registered' && isOverdueFor(state, email_digest))
        await lapse(userId, email_digest, context);
      const revision = await leftReservation(email_digest, userId);
      if (revision === null) return;
      await handler.handle(emailAggregate.at(email_digest), { type: 'Release', revision }, context);
    },
  };

  /**
   * Returns the revision of a reservation that no longer counts, or null. The user is read after the reservation. If
   * the user takes the address back later, that makes another reservation.
   */
  async function leftReservation(email_digest: string, userId: string): Promise<bigint | null> {
    const { state: reservation } = await handler.load(emailAggregate, email_digest);
    if (reservation.status === 'free' || reservation.user_id !== userId) return null;
    const { state: user } = await handler.load(userAggregate, userId);
    // Only a command that needs the address abandons a registration under way.
    if (user.status === 'absent' || holdsAddress(user, email_digest, reservation.change_id)) return null;
    return reservation.revision;
  }

  /** Judges a reservation. `overdue`: it is replaceable after an event that ends its user's claim to the address. */
  async function judge(
    reservation: EmailState,
    email_digest: string,
    userId: string,
  ): Promise<'counts' | 'replaceable' | 'overdue'> {
    if (reservation.status === 'free' || reservation.user_id === userId) return 'replaceable';
    const { state: user } = await handler.load(userAggregate, reservation.user_id);
    switch (user.status) {
      case 'registered':
        if (!holdsAddress(user, email_digest, reservation.change_id)) return 'replaceable';
        return isOverdueFor(user, email_digest) ? 'overdue' : 'counts';
      case 'abandoned':
      case 'erased':
        return 'replaceable';
      case 'absent':
        // A clock ahead of the store's abandons a registration early. It cannot give the address to two users.
        return isRecent(reservation.reservedAt, takeOverAfterMs, clock.now()) ? 'counts' : 'overdue';
    }
  }

  function isOverdueFor(user: RegisteredUser, email_digest: string): boolean {
    const former = formerAddress(user, email_digest);
    // A clock ahead of the others ends a claim early. The user's stream says which of lapse and revert was first.
    return former !== null && former.until <= clock.now();
  }

  /**
   * Ends the claim of a reservation that is overdue, by an event in its user's stream. So a slow registration, or a revert
   * at the last moment, fails after another user has the address. Returns false where the user was faster.
   */
  async function fence(
    reservation: EmailState,
    email_digest: string,
    context: CommandContext,
  ): Promise<boolean> {
    if (reservation.status === 'free') return true;
    const { state: user } = await handler.load(userAggregate, reservation.user_id);
    if (user.status === 'absent') return abandon(reservation.user_id, context);
    // The next attempt judges the state after the event. Another command may have ended the user in the meantime.
    if (user.status === 'registered')
      await lapse(reservation.user_id, email_digest, context).catch(ignoreEnded);
    return false;
  }

  async function lapse(userId: string, email_digest: string, context: CommandContext): Promise<void> {
    const command = { type: 'LapseFormerAddress', email_digest, now: clock.now() } as const;
    await handler.handle(userAggregate.at(userId), command, stepContext(context, `lapse-${userId}`));
  }

  /**
   * Appends the first event of the overdue user, so that a slow registration fails after another user has the address.
   * Returns false where the registration completed before.
   */
  async function abandon(userId: string, context: CommandContext): Promise<boolean> {
    const abandoning = handler.handle(userAggregate.at(userId), { type: 'AbandonRegistration' }, context);
    return abandoning.then(
      () => true,
      whenRejected<UserRejection>('already_registered')(() => false),
    );
  }
}

const ignoreEnded = whenRejected<UserRejection>('user_not_found')(() => undefined);

export function rejectTaken(): never {
  return rejectUseCase('email_taken', 'there is an account with this address already');
}
