import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import { userAggregate } from '../domain/user/user.js';
import type { AddressReservations } from './address-reservations.js';

/** A change whose mailed code was right, and whose address is reserved for it. */
export interface ReservedChange {
  readonly userId: string;
  readonly changeId: string;
  /** Of the new address. */
  readonly emailDigest: string;
}

/** What follows the reservation of a new address: DESIGN 3, "Unique address". */
export interface FinishEmailChange {
  /**
   * Makes the address the user's; once more changes nothing.
   * @throws CommandRejected email_change_not_pending, when another change was asked for since; user_not_found
   */
  complete(change: ReservedChange, context: CommandContext): Promise<void>;
  /** Whether the change is neither completed nor is its address released. */
  isOpen(change: ReservedChange): Promise<boolean>;
  /** Completes the change; releases its address instead if another one was asked for since, or the user is erased. */
  finish(change: ReservedChange, context: CommandContext): Promise<void>;
}

export function makeFinishEmailChange({
  handler,
  reservations,
}: {
  readonly handler: CommandHandler;
  readonly reservations: Pick<AddressReservations, 'isLeft' | 'release'>;
}): FinishEmailChange {
  return {
    complete,
    isOpen: async (change) =>
      (await isPending(change)) || (await reservations.isLeft(change.emailDigest, change.userId)),
    finish: async (change, context) => {
      if (await isPending(change)) await complete(change, context);
      await reservations.release(change.emailDigest, change.userId, context);
    },
  };

  async function complete(
    { userId, changeId, emailDigest }: ReservedChange,
    context: CommandContext,
  ): Promise<void> {
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'CompleteEmailChange', changeId, emailDigest },
      stepContext(context, 'complete-email-change'),
    );
  }

  async function isPending({ userId, changeId }: ReservedChange): Promise<boolean> {
    const { state } = await handler.load(userAggregate, userId);
    return state.status === 'registered' && state.emailChange?.changeId === changeId;
  }
}
