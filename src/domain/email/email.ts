import type { Aggregate, Evolving } from '../../event-sourcing/decider.js';
import { emailCodec, type EmailEvent } from './events.js';
import { rejectEmail } from './rejections.js';
import { emailCategory } from './stream.js';

/** Who holds an address. Whether the reservation counts is written in the holder's own stream (DESIGN 3, Unique address). */
export type EmailState =
  | { readonly status: 'free' }
  | {
      readonly status: 'reserved';
      readonly userId: string;
      /** The change of address that it was made for; null: a registration. */
      readonly changeId: string | null;
      /** The revision of the reservation: it alone tells two reservations of one user apart. */
      readonly revision: bigint;
      /** The store's recorded time. */
      readonly reservedAt: Date;
    };

export type EmailCommand =
  | {
      readonly type: 'Reserve';
      readonly userId: string;
      readonly changeId: string | null;
      /** The revision of the reservation that was found not to count any more; null: the address was free. */
      readonly replaces: bigint | null;
    }
  /** Ends just the reservation that was found not to count any more. */
  | { readonly type: 'Release'; readonly revision: bigint };

const initialState: EmailState = { status: 'free' };

function evolve(_state: EmailState, event: Evolving<EmailEvent>): EmailState {
  switch (event.type) {
    case 'EmailReserved':
      return {
        status: 'reserved',
        userId: event.data.user_id,
        changeId: event.data.change_id,
        revision: event.revision,
        reservedAt: event.recordedAt,
      };
    case 'EmailReleased':
      return { status: 'free' };
  }
}

function decide(command: EmailCommand, state: EmailState): readonly EmailEvent[] {
  switch (command.type) {
    case 'Reserve':
      return reserve(command, state);
    case 'Release':
      if (state.status === 'free' || state.revision !== command.revision) return [];
      return [{ type: 'EmailReleased', data: { user_id: state.userId } }];
  }
}

function reserve(
  { userId, changeId, replaces }: Extract<EmailCommand, { type: 'Reserve' }>,
  state: EmailState,
): readonly EmailEvent[] {
  if (state.status === 'reserved') {
    if (state.userId === userId && state.changeId === changeId) return [];
    // Also one that the user has from an earlier change: somebody may have judged already that it does not count, and
    // would replace it after the user has come to rely on it.
    if (state.revision !== replaces) {
      rejectEmail('address_reserved', 'another reservation of the address has been made meanwhile');
    }
  }
  return [{ type: 'EmailReserved', data: { user_id: userId, change_id: changeId } }];
}

export const emailAggregate: Aggregate<EmailState, EmailCommand, EmailEvent> = {
  category: emailCategory,
  codec: emailCodec,
  followsStoreTime: true,
  decider: { initialState, decide, evolve },
};
