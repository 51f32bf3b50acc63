import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { Overloaded } from '../event-sourcing/errors.js';
import { emailAggregate, type EmailState } from '../domain/email/email.js';
import { holdsAddress, userAggregate } from '../domain/user/user.js';
import { isRejection, rejectUseCase } from './rejections.js';

/** For whom an address is reserved. */
export interface Reserver {
  readonly userId: string;
  /** The change of address whose mailed code was right; null: a registration. */
  readonly changeId: string | null;
}

/** Which user an address belongs to, at most one: DESIGN 3, "Unique address". Addresses are keyed digests. */
export interface AddressReservations {
  /** Rejects as `reserve` would, so that a taken address costs nothing further. @throws CommandRejected email_taken */
  check(emailDigest: string, userId: string): Promise<void>;
  /**
   * Reserves the address for a user who is about to be registered, or who has proved that it is theirs.
   * @throws CommandRejected email_taken; Overloaded
   */
  reserve(emailDigest: string, reserver: Reserver, context: CommandContext): Promise<void>;
  /** Whether the address is still reserved for a user who has it no more and has not asked for it either. */
  isLeft(emailDigest: string, userId: string): Promise<boolean>;
  /** Ends the reservation if it is left. */
  release(emailDigest: string, userId: string, context: CommandContext): Promise<void>;
}

/** How long a registration may take before others give it up. */
export const takeOverAfterMs = 60_000;

const triesMax = 20;

export function makeAddressReservations({
  handler,
  clock,
}: {
  readonly handler: CommandHandler;
  readonly clock: Clock;
}): AddressReservations {
  return {
    check: async (emailDigest, userId) => {
      const { state } = await handler.load(emailAggregate, emailDigest);
      if ((await judge(state, emailDigest, userId)) === 'counts') rejectTaken();
    },

    reserve: async (emailDigest, { userId, changeId }, context) => {
      for (let attempt = 0; attempt < triesMax; attempt += 1) {
        const { state } = await handler.load(emailAggregate, emailDigest);
        const verdict = await judge(state, emailDigest, userId);
        if (verdict === 'counts') rejectTaken();
        if (verdict === 'overdue' && !(await abandon(state, context))) continue;
        const replaces = state.status === 'reserved' ? state.revision : null;
        try {
          const target = { aggregate: emailAggregate, id: emailDigest };
          await handler.handle(target, { type: 'Reserve', userId, changeId, replaces }, context);
          return;
        } catch (error) {
          // Somebody was faster; their reservation has to be judged.
          if (!isRejection(error, 'address_reserved')) throw error;
        }
      }
      throw new Overloaded(`an address changed hands ${triesMax} times while it was being reserved`);
    },

    isLeft: async (emailDigest, userId) => (await leftReservation(emailDigest, userId)) !== null,

    release: async (emailDigest, userId, context) => {
      const revision = await leftReservation(emailDigest, userId);
      if (revision === null) return;
      const target = { aggregate: emailAggregate, id: emailDigest };
      await handler.handle(target, { type: 'Release', revision }, context);
    },
  };

  /**
   * The revision of a reservation that does not count any more, or null. In this order: what is read of the user is then
   * newer than the reservation, and whatever makes the address theirs again comes with another one.
   */
  async function leftReservation(emailDigest: string, userId: string): Promise<bigint | null> {
    const { state: reservation } = await handler.load(emailAggregate, emailDigest);
    if (reservation.status === 'free' || reservation.userId !== userId) return null;
    const { state: user } = await handler.load(userAggregate, userId);
    // A registration that is under way is given up by those who need its address.
    if (user.status === 'absent' || holdsAddress(user, emailDigest, reservation.changeId)) return null;
    return reservation.revision;
  }

  /** Whether a reservation stands in the way: it counts, it may be replaced at once, or only after its user is given up. */
  async function judge(
    reservation: EmailState,
    emailDigest: string,
    userId: string,
  ): Promise<'counts' | 'replaceable' | 'overdue'> {
    if (reservation.status === 'free' || reservation.userId === userId) return 'replaceable';
    const { state: user } = await handler.load(userAggregate, reservation.userId);
    switch (user.status) {
      case 'registered':
        return holdsAddress(user, emailDigest, reservation.changeId) ? 'counts' : 'replaceable';
      case 'abandoned':
      case 'erased':
        return 'replaceable';
      case 'absent': {
        // A clock that is ahead of the store's gives a registration up early; it cannot give the address to two.
        const ageMs = clock.now().getTime() - reservation.reservedAt.getTime();
        return ageMs < takeOverAfterMs ? 'counts' : 'overdue';
      }
    }
  }

  /**
   * Takes the place of the overdue user's first event, so that a slow registration cannot be completed after the address
   * has gone to another. False: it was completed just before.
   */
  async function abandon(reservation: EmailState, context: CommandContext): Promise<boolean> {
    if (reservation.status === 'free') return true;
    try {
      const target = { aggregate: userAggregate, id: reservation.userId };
      await handler.handle(target, { type: 'AbandonRegistration' }, context);
      return true;
    } catch (error) {
      if (isRejection(error, 'already_registered')) return false;
      throw error;
    }
  }
}

export function rejectTaken(): never {
  return rejectUseCase('email_taken', 'email: there is an account with this address already');
}
