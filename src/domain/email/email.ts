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
      /** The revision of the reservation: it alone tells two reservations of one user apart. */
      readonly revision: bigint;
      /** The store's recorded time. */
      readonly reservedAt: Date;
    };

export type EmailCommand =
  | {
      readonly type: 'Reserve';
      readonly userId: string;
      /** The revision of the reservation that was found not to count any more; null: the address was free. */
      readonly replaces: bigint | null;
    }
  | { readonly type: 'Release'; readonly userId: string };

const initialState: EmailState = { status: 'free' };

function evolve(_state: EmailState, event: Evolving<EmailEvent>): EmailState {
  switch (event.type) {
    case 'EmailReserved':
      return {
        status: 'reserved',
        userId: event.data.user_id,
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
      if (state.status === 'free' || state.userId !== command.userId) return [];
      return [{ type: 'EmailReleased', data: { user_id: command.userId } }];
  }
}

function reserve(
  command: Extract<EmailCommand, { type: 'Reserve' }>,
  state: EmailState,
): readonly EmailEvent[] {
  if (state.status === 'reserved') {
    if (state.userId === command.userId) return [];
    if (state.revision !== command.replaces) {
      rejectEmail('address_reserved', 'another reservation of the address has been made meanwhile');
    }
  }
  return [{ type: 'EmailReserved', data: { user_id: command.userId } }];
}

export const emailAggregate: Aggregate<EmailState, EmailCommand, EmailEvent> = {
  category: emailCategory,
  codec: emailCodec,
  decider: { initialState, decide, evolve },
};
