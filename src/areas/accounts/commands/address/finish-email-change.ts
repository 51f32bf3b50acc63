import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { userAggregate } from '../../domain/user/user.js';
import type { AddressReservations } from '../registering/address-reservations.js';

/** A change whose mailed code was right, and whose new address is reserved. */
export interface ReservedChange {
  readonly userId: string;
  readonly changeId: string;
  /** Of the new address. */
  readonly emailDigest: string;
}

/** Completes a change after the reservation of the new address (src/areas/accounts/README.md#unique-address). */
export interface FinishEmailChange {
  /**
   * Gives the address to the user; a repetition changes nothing.
   * @throws CommandRejected email_change_not_pending where the user has requested another change; user_not_found
   */
  complete(change: ReservedChange, context: CommandContext): Promise<void>;
  /** Says whether the change is pending, or its reservation is left over. */
  isOpen(change: ReservedChange): Promise<boolean>;
  /** Completes a pending change; otherwise releases a reservation that is left over. */
  finish(change: ReservedChange, context: CommandContext): Promise<void>;
}

export function makeFinishEmailChange({
  handler,
  addressRevertCodes,
  reservations,
}: Pick<AccountDeps, 'handler' | 'addressRevertCodes'> & {
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
      {
        type: 'CompleteEmailChange',
        ...{ changeId, emailDigest, codeKeyId: addressRevertCodes.active(), now: context.time },
      },
      stepContext(context, 'complete-email-change'),
    );
  }

  async function isPending({ userId, changeId }: ReservedChange): Promise<boolean> {
    const { state } = await handler.load(userAggregate, userId);
    return state.status === 'registered' && state.emailChange?.changeId === changeId;
  }
}
